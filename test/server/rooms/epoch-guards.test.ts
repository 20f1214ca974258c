// Modes: embedded
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { DeviceKeys } from '#server/domains/people/device-keys/model'
import { social } from '#shared/api/moderation/social'
import { deviceKeys } from '#shared/api/people/device-keys'
import { epochs } from '#shared/api/rooms/epochs'
import { messages } from '#shared/api/rooms/messages'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { deviceOf, envelopeFor, messageUnder, newKeyId } from '#test/support/direct'
import { type Door, outcomeOf, over, type Person, person } from '#test/support/people'

let server: Booted
let one: Person
let two: Person
let room: ReturnType<typeof dmOf>
let [mine, theirs] = ['', '']
let round = 0
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())
beforeEach(async () => {
  round += 1
  one = await person(server, `one ${round}`)
  two = await person(server, `two ${round}`)
  room = dmOf(one.account, two.account)
  mine = await deviceOf(one)
  theirs = await deviceOf(two)
})

const lotOf = (epoch_id: string, devices: readonly string[]) => ({
  id: room.id,
  epoch_id,
  device_id: mine,
  envelopes: devices.map(envelopeFor),
})
async function begin(after: string | null, door: Door = 'socket'): Promise<string> {
  const epoch_id = newKeyId()
  await one.does(door, epochs.start, { ...lotOf(epoch_id, [mine, theirs]), after })
  return epoch_id
}

test.each(over)(
  'a device that is given an older epoch, and goes, ends none; one that is given the current epoch does, over %s',
  async (door) => {
    const first = await begin(null, door)
    const second = await begin(first, door)
    const send = async () => outcomeOf(await one.tries(door, messages.send, { room, text: messageUnder(second) }))
    for (const [epoch, outcome] of [
      [first, '200'],
      [second, '409 CONFLICT'],
    ] as const) {
      const added = await deviceOf(two)
      await one.does(door, epochs.share, lotOf(epoch, [added]))
      expect(await send()).toBe('200')
      await two.does(door, deviceKeys.remove, { device_id: added })
      expect(await send()).toBe(outcome)
    }
  },
)

test.each(over)('a block that comes while an epoch is begun or given is before it, over %s', async (door) => {
  const epoch = await begin(null)
  const find = DeviceKeys.find.bind(DeviceKeys)
  for (const [operation, input] of [
    [epochs.share, lotOf(epoch, [theirs])],
    [epochs.start, { ...lotOf(newKeyId(), [mine]), after: epoch }],
  ] as const) {
    // The devices are looked up once all is found to be allowed, and before the room's turn.
    const lookedUp = vi.spyOn(DeviceKeys, 'find').mockImplementationOnce(((...given: Parameters<typeof find>) => ({
      lean: async () => {
        const found = await find(...given).lean()
        await two.does('rest', social.block, { userAddress: one.account })
        return found
      },
    })) as never)
    expect(outcomeOf(await one.tries(door, operation, input))).toBe('403 BLOCKED')
    expect(lookedUp).toHaveBeenCalledOnce()
    lookedUp.mockRestore()
    await two.does('rest', social.unblock, { userAddress: one.account })
  }
  const { epochs: stored } = await two.does(door, epochs.list, { id: room.id, device_id: theirs })
  expect(stored.map(({ epoch_id, envelopes }) => [epoch_id, envelopes.length])).toEqual([[epoch, 1]])
})

test('each of the two gives an epoch in 25 lots', async () => {
  const epoch = await begin(null)
  const given = async (who: Person, device_id: string) => {
    for (let lots = 0; ; lots++)
      if (!(await who.tries('socket', epochs.share, { ...lotOf(epoch, [mine]), device_id })).ok) return lots
  }
  // Who begins it has given one by that.
  expect([await given(one, mine), await given(two, theirs)]).toEqual([24, 25])
  for (const door of over)
    expect((await one.refused(door, epochs.share, lotOf(epoch, [mine]))).message).toContain('too many devices')
})

test.each(over)('epochs are read in pages of 50, the newest first, each on one page, over %s', async (door) => {
  const begun: string[] = []
  const list = (before_seq?: number) => one.does(door, epochs.list, { id: room.id, device_id: mine, before_seq })
  while (begun.length < 50) begun.unshift(await begin(begun[0] ?? null))
  const whole = await list()
  expect(whole.epochs.map(({ epoch_id }) => epoch_id)).toEqual(begun)
  expect(whole.has_more).toBe(false)
  while (begun.length < 101) begun.unshift(await begin(begun[0] ?? null))
  const pages: (typeof whole)[] = [await list()]
  while (pages.at(-1)?.has_more) pages.push(await list(pages.at(-1)?.epochs.at(-1)?.seq))
  expect(pages.map((page) => page.epochs.length)).toEqual([50, 50, 1])
  expect(pages.flatMap((page) => page.epochs.map(({ epoch_id }) => epoch_id))).toEqual(begun)
  expect(pages.map((page) => page.epochs.some(({ is_current }) => is_current))).toEqual([true, false, false])
  expect(await list(pages[1]?.epochs[0]?.seq)).toMatchObject({ epochs: { length: 50 }, has_more: false })
})
