// Modes: embedded
import { afterEach, expect, test } from 'vitest'
import { PushPreferences } from '#server/domains/platform/push/model'
import { fakePush } from '#server/ports/push/fake'
import { push as contract } from '#shared/api/platform/push'
import { bootWith } from '#test/support/boot-with'
import { type Person, person } from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'

const push = fakePush()
const { server } = await bootWith([], { services: { push } })
afterEach(() => server.setAhead(0))

let made = 0
/** Somebody with a browser that is told, who signs in when the clocks show this. */
async function somebodyAt(time: string): Promise<Person> {
  server.setAhead((Date.parse(time) - Date.now()) / 1_000)
  const who = await person(server, `sleeps ${++made}`)
  const { asJson: subscription } = pushBrowser(`https://push.test/${made}`)
  await who.does('rest', contract.subscribe, { subscription })
  return who
}
const isQuiet = async (who: Person) =>
  (await who.does('rest', contract.send, { targetAddress: who.account })).suppressed === 'quiet_hours'

test.each([
  // Before and after ten in the evening, and before and after seven in the morning.
  ['Asia/Kolkata', '2030-01-10', ['16:25', '16:35', '01:25', '01:35']],
  ['Asia/Kathmandu', '2030-01-10', ['16:10', '16:20', '01:10', '01:20']],
  ['America/New_York', '2030-01-10', ['02:55', '03:05', '11:55', '12:05']],
  ['Europe/Berlin', '2030-03-30', ['20:55', '21:05', '05:55', '06:05']],
  ['Europe/Berlin', '2030-03-31', ['19:55', '20:05', '04:55', '05:05']],
  ['Europe/Berlin', '2030-10-26', ['19:55', '20:05', '04:55', '05:05']],
  ['Europe/Berlin', '2030-10-27', ['20:55', '21:05', '05:55', '06:05']],
  ['Australia/Lord_Howe', '2030-01-10', ['10:55', '11:05', '19:55', '20:05']],
  ['Australia/Lord_Howe', '2030-07-10', ['11:25', '11:35', '20:25', '20:35']],
  [null, '2030-01-10', ['21:55', '22:05', '06:55', '07:05']],
])('hours begin and end by the clocks of %s on %s', async (quietTimezone, day, times) => {
  const found: boolean[] = []
  for (const time of times) {
    const who = await somebodyAt(`${day}T${time}:00Z`)
    await who.does('rest', contract.changePreferences, { quietStart: 22, quietEnd: 7, quietTimezone })
    found.push(await isQuiet(who))
  }
  expect(found).toEqual([false, true, true, false])
})

test('a zone is kept with the hours until it is taken away, and is changed alone', async () => {
  const who = await somebodyAt('2030-01-10T12:00:00Z')
  const read = async () => (await who.does('rest', contract.preferences, {})).quietTimezone
  await who.does('rest', contract.changePreferences, { quietTimezone: 'Asia/Kolkata' })
  await who.does('rest', contract.changePreferences, { quietStart: 22 })
  expect(await read()).toBe('Asia/Kolkata')
  for (const none of [null, ''] as const) {
    await who.does('rest', contract.changePreferences, { quietTimezone: 'Asia/Kolkata' })
    await who.does('rest', contract.changePreferences, { quietTimezone: none })
    expect(await read()).toBe(null)
  }
})

test.each(['Asia/Nowhere', 'x', '+05:30', '../etc', 'A'.repeat(65)])('no hours are by %s', async (quietTimezone) => {
  const who = await somebodyAt('2030-01-10T12:00:00Z')
  const refused = await who.refused('rest', contract.changePreferences, { quietStart: 1, quietTimezone })
  expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  expect(await PushPreferences.countDocuments({ _id: who.account })).toBe(0)
})

test.each([
  ['that an older version stored', { $unset: { quiet_timezone: '' } }],
  ['by a zone that is not known here', { $set: { quiet_timezone: 'Asia/Nowhere' } }],
])('hours %s are of UTC', async (_which, change) => {
  const who = await somebodyAt('2030-01-10T22:05:00Z')
  const hours = { quietStart: 22, quietEnd: 23, quietTimezone: 'Asia/Kolkata' }
  await who.does('rest', contract.changePreferences, hours)
  expect(await isQuiet(who)).toBe(false)
  await PushPreferences.updateOne({ _id: who.account }, change)
  expect(await isQuiet(who)).toBe(true)
  expect(await who.does('rest', contract.preferences, {})).toMatchObject({ quietStart: 22, quietEnd: 23 })
})
