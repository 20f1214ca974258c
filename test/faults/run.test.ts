import { afterAll, beforeAll, expect, test } from 'vitest'
import { s3Storage } from '#server/ports/storage/s3'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { openS3 } from '#test/support/s3'
import { insist, sdkOf } from './insist.ts'
import { runPart } from './part.ts'
import { seeded } from './random.ts'
import { reportOf } from './report.ts'
import { Setup, until } from './setup.ts'
import { stepsTo } from './steps.ts'
import { openStorageFront } from './storage-front.ts'
import { readPages } from './stored.ts'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

test('O46: what is set up is there once, however many answers are lost', heavy, async () => {
  const front = await openStorageFront(Number(new URL(server.url).port))
  const setup = await Setup.open(front.url)
  const [member] = await setup.people('member', 1)
  if (!member) throw new Error('Nobody came')
  const { owner } = setup
  const lost = async <T>(act: () => Promise<T>): Promise<T> => {
    const before = front.spoilt
    front.mood = 'lost'
    const acted = act()
    await until(() => front.spoilt > before + 3, 30_000)
    front.mood = 'well'
    return acted
  }
  const room = await lost(() => setup.room([member]))
  await lost(() => setup.closed())
  await lost(() => setup.agent(owner))
  const rows = await lost(() => readPages(front.url, member, room))
  await front.close()
  const sdk = sdkOf(server.url, owner.token)
  expect((await sdk.rooms.list({ joined: true })).channels).toMatchObject([{ id: room.id, member_count: 2 }])
  expect((await sdk.rooms.groups({})).groups).toHaveLength(1)
  expect((await sdk.agents.list({})).agents).toHaveLength(1)
  const joined = rows.flatMap(({ effect }) => (effect.kind === 'joined' ? [effect.who] : []))
  expect(joined).toEqual([owner.account, member.account])
})

test('O46: a refusal that does not pass is not repeated, and one that passes not for ever', async () => {
  const { owner } = await Setup.open(server.url)
  let asked = 0
  const refused = insist(() => {
    asked++
    return sdkOf(server.url, owner.token).rooms.get({ room: { type: 'channel', id: 'nowhere' } })
  })
  await expect(refused).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' })
  expect(asked).toBe(1)
  const gone = insist(() => Promise.reject(new Error('nobody is there')), { milliseconds: 0 })
  await expect(gone).rejects.toThrow('nobody is there')
})

test('O46: a step that fails or does not end is a breach, and those after it are taken', async () => {
  const breaches: string[] = []
  const step = stepsTo(breaches)
  expect(await step('one', 60_000, () => Promise.reject(new Error('it failed')))).toBeNull()
  expect(await step('two', 1, () => new Promise(() => undefined))).toBeNull()
  expect(await step('three', 60_000, async () => 3)).toBe(3)
  expect(breaches).toEqual(['one: it failed', 'two: has not ended after 0.001 s'])
})

test('O46: a run whose servers do not start has its table all the same, which says so', async () => {
  const start = () => Promise.reject(new Error('the store did not start'))
  const plan = { faults: [], times: 1, seconds: 0, acked: 0 }
  const outcome = await runPart({ name: 'Two nodes', start, plan, random: seeded(1), isLong: false })
  const least = { acked: 1, injections: 1, flips: 1, answers: 1, charges: 1, uploads: 1, entries: 1 }
  const report = reportOf(1, [outcome], { faults: [], skipped: [], unexpected: [], least, isWhole: true })
  expect(report.rows).toContainEqual(['messages sent', 0])
  expect(report.failures).toContain('Two nodes: the start: the store did not start')
})

test('O46: what the stand-in for an object storage was sent by half is never there', heavy, async () => {
  const s3 = await openS3(['chat-images'])
  const front = await openStorageFront(Number(new URL(s3.endpoint).port))
  const [through, direct] = [s3Storage({ ...s3, endpoint: front.url }), s3Storage(s3)]
  const whole = new Blob([new Uint8Array(200_000)])
  front.mood = 'half'
  await expect(through.put('chat-images/half.png', whole)).rejects.toThrow()
  await direct.put('chat-images/whole.png', whole)
  const listed: [string, number][] = []
  for await (const { key, size } of direct.list('chat-images')) listed.push([key, size])
  expect(listed).toEqual([['chat-images/whole.png', 200_000]])
  await front.close()
  await s3.stop()
})
