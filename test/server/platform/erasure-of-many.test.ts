// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { newAlias } from '#server/domains/platform/own-data/alias'
import { hideMessages } from '#server/domains/platform/own-data/endings'
import { Erasures, type StoredErasure } from '#server/domains/platform/own-data/model'
import { RoomFacts } from '#server/domains/rooms/room-state/model'
import { StoredJobs } from '#server/kernel/store/model'
import { RoomEvents } from '#server/log/model'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { storeMessages } from '#test/support/many-messages'
import { channelOf, type Person, person, say } from '#test/support/people'

let server: Booted
let owner: Person
/** That of a server which begins again. */
let directory = ''
beforeAll(async () => {
  // The deadlines are those of a real installation.
  server = await boot({
    environment: { ERASURE_GRACE_DAYS: '0' },
    entry: 'through the door',
    change: (platform) => ({ ...platform, deadlineFactor: 1 }),
  })
  owner = await person(server, 'owner')
})
afterAll(async () => {
  await server.close()
  if (directory) await rm(directory, { recursive: true, force: true })
})

const secret = 'rhubarb'
let ahead = 0
const pass = (seconds: number) => {
  ahead += seconds
  server.setAhead(ahead)
}

async function beginErasing(who: Person): Promise<string> {
  await who.does('rest', ownData.erase, { messages: 'erase', confirm: who.account })
  return (await Accounts.findOne({ _id: who.account }).lean())?.erasure_id ?? ''
}
const stateOf = (_id: string) => Erasures.findOne({ _id }).lean<StoredErasure>()
/** What the last failed attempt says. */
const errorOf = async (id: string) => (await StoredJobs.findOne({ _id: `erasure ${id}` }).lean())?.error ?? null

async function expectNothingLeft(who: Person, room: RoomRef): Promise<void> {
  const stored = JSON.stringify(await RoomEvents.find({ room: roomKey(room) }).lean())
  expect(stored).not.toContain(secret)
  expect(stored.toLowerCase()).not.toContain(who.account.toLowerCase())
  expect(await RoomEvents.countDocuments({ room: roomKey(room), type: 'messages.purged' })).toBe(1)
  expect(await Accounts.exists({ _id: who.account })).toBeNull()
}

test(
  'P26: an account with thousands of messages is erased without a failed attempt, while others read and write the room',
  heavy,
  async () => {
    const writer = await person(server, 'writes much')
    const room = await channelOf(owner, writer)
    await storeMessages(server, room, writer.account, { count: 5_000, text: secret })
    const last = await say(writer, room, `${secret} at last`)
    await say(owner, room, 'an answer', { reply_to: last.id })
    const id = await beginErasing(writer)
    let said = 0
    for (const until = Date.now() + 90_000; !(await stateOf(id))?.forgotten_at; ) {
      if (Date.now() > until) throw new Error('The erasure does not end')
      await say(owner, room, `meanwhile ${said++}`)
      await owner.does('rest', messages.history, { room, limit: 100 })
      expect(await errorOf(id)).toBeNull()
      if (said % 10 === 0) pass(1)
    }
    pass(120)
    await vi.waitFor(async () => expect((await stateOf(id))?.finished_at).toBeTruthy(), {
      timeout: 60_000,
      interval: 100,
    })
    await expectNothingLeft(writer, room)
    const { messages: shown } = await owner.does('rest', messages.history, { room, limit: 100 })
    expect(shown.filter((one) => !one.is_deleted)).toHaveLength(Math.min(100, said + 1))
  },
)

/** Each slice of the texts of a room waits until it may pass, and takes two seconds of a run. */
function slowRemoval(room: RoomRef) {
  const findOne = RoomFacts.findOne.bind(RoomFacts) as unknown as (...given: object[]) => object
  const now = performance.now.bind(performance)
  const waiting: (() => void)[] = []
  let passed = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed * 2_000)
  const reads = vi.spyOn(RoomFacts, 'findOne').mockImplementation(((...given: object[]) => {
    const query = findOne(...given)
    const [filter = {}] = given
    if (!('is_open' in filter && '_id' in filter && `${filter._id}`.startsWith(roomKey(room)))) return query
    const read = async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return (query as { lean(): Promise<unknown> }).lean()
    }
    return { lean: read }
  }) as never)
  const letPass = () => {
    const next = waiting.shift()
    if (next) passed += 1
    next?.()
  }
  const end = () => {
    reads.mockRestore()
    while (waiting.length > 0) letPass()
  }
  onTestFinished(() => {
    end()
    clock.mockRestore()
  })
  return { letPass, end }
}

test(
  'P26: all that deleted accounts wrote is hidden before the texts of the first of them are removed',
  heavy,
  async () => {
    const [first, other] = [await person(server, 'wrote very much'), await person(server, 'leaves meanwhile')]
    const long = await channelOf(owner, first)
    const short = await channelOf(owner, first, other)
    await storeMessages(server, long, first.account, { count: 5_000, text: secret })
    await say(first, short, secret)
    await say(other, short, secret)
    const stored = () => RoomEvents.countDocuments({ room: roomKey(long), 'body.text': { $gt: '' } })
    const shown = async () => {
      const { messages: here } = await owner.does('rest', messages.history, { room: short, limit: 100 })
      return here.filter(({ content }) => content.includes(secret)).map(({ sender_address }) => sender_address)
    }
    const removal = slowRemoval(long)
    const ids = [await beginErasing(first)]
    await vi.waitFor(async () => expect(await shown()).toEqual([other.account]), { timeout: 30_000 })
    expect(await stored()).toBe(5_000)
    ids.push(await beginErasing(other))
    const isHidden = async () => {
      removal.letPass()
      expect(await shown()).toEqual([])
    }
    await vi.waitFor(isHidden, { timeout: 30_000, interval: 200 })
    expect(await stored()).toBeGreaterThan(0)
    removal.end()
    pass(6)
    for (const id of ids)
      await vi.waitFor(async () => expect((await stateOf(id))?.forgotten_at).toBeTruthy(), { timeout: 60_000 })
    expect(await stored()).toBe(0)
  },
)

test('P26: a run of a deletion looks for new messages alone, not again through all that are hidden', async () => {
  const writer = await person(server, 'is looked at again')
  const room = await channelOf(owner, writer)
  await storeMessages(server, room, writer.account, { count: 120, text: secret })
  const find = vi.spyOn(RoomEvents, 'find')
  onTestFinished(() => find.mockRestore())
  const { node } = server.apps[0] ?? expect.fail()
  const erased = { account: writer.account, alias: newAlias(), messages: 'erase' as const }
  const hide = async () => {
    find.mockClear()
    await hideMessages(node, erased, new AbortController().signal)
    const filters = find.mock.calls.map(([filter]) => filter as object as { room?: string; n?: { $gte?: number } })
    const from = filters.flatMap(({ room: key, n }) => (key === roomKey(room) ? (n?.$gte ?? []) : []))
    return { from, purges: await RoomEvents.countDocuments({ room: roomKey(room), type: 'messages.purged' }) }
  }
  expect(await hide()).toEqual({ from: [1], purges: 1 })
  expect(await hide()).toEqual({ from: [121], purges: 1 })
  await say(owner, room, 'an answer')
  await say(writer, room, `${secret} too late`)
  expect(await hide()).toEqual({ from: [121], purges: 2 })
  expect(await hide()).toEqual({ from: [123], purges: 2 })
  const { messages: shown } = await owner.does('rest', messages.history, { room, limit: 100 })
  expect(JSON.stringify(shown)).not.toContain(secret)
})

test('P26: an attempt that has removed some of the messages has not failed, and the next one goes on with the rest', async () => {
  const writer = await person(server, 'writes some')
  const room = await channelOf(owner, writer)
  await storeMessages(server, room, writer.account, { count: 650, text: secret })
  const findOne = RoomFacts.findOne.bind(RoomFacts) as unknown as (...given: object[]) => unknown
  let reads = 0
  const failing = vi.spyOn(RoomFacts, 'findOne').mockImplementation(((...given: object[]) => {
    const [filter = {}] = given
    const isOurs = '_id' in filter && String(filter._id).startsWith(roomKey(room))
    if (isOurs) reads += 1
    if (isOurs && reads % 2 === 0) throw new Error('the store is away')
    return findOne(...given)
  }) as never)
  onTestFinished(() => failing.mockRestore())
  const id = await beginErasing(writer)
  const errors = new Set<string | null>()
  await vi.waitFor(
    async () => {
      pass(6)
      errors.add(await errorOf(id))
      expect((await stateOf(id))?.forgotten_at).toBeTruthy()
    },
    { timeout: 60_000, interval: 200 },
  )
  expect([...errors]).toEqual([null])
  expect(reads).toBeGreaterThan(5)
  failing.mockRestore()
  pass(120)
  await vi.waitFor(async () => expect((await stateOf(id))?.finished_at).toBeTruthy(), {
    timeout: 60_000,
    interval: 100,
  })
  await expectNothingLeft(writer, room)
})

test('P26: an erasure whose job was given up is taken up again by the next start', async () => {
  // A process has one store, so the other server ends first. This test is the last one.
  await server.close()
  directory = await mkdtemp(join(tmpdir(), 'plaza-given-up-'))
  const environment = { DATA_DIR: directory, ERASURE_GRACE_DAYS: '0' }
  const start = () => boot({ environment, entry: 'through the door' })
  server = await start()
  owner = await person(server, 'owner')
  const writer = await person(server, 'is given up')
  const room = await channelOf(owner, writer)
  await say(writer, room, secret)
  const failing = vi.spyOn(RoomFacts, 'findOne').mockImplementation(() => {
    throw new Error('the store is away')
  })
  onTestFinished(() => failing.mockRestore())
  const id = await beginErasing(writer)
  const givenUp = { $set: { state: 'failed' as const }, $unset: { payload: '' } }
  const tried = { _id: `erasure ${id}`, run: null, error: { $ne: null } }
  const giveUp = async () => expect((await StoredJobs.updateOne(tried, givenUp)).matchedCount).toBe(1)
  await vi.waitFor(giveUp, { timeout: 30_000 })
  failing.mockRestore()
  expect(await Accounts.findOne({ _id: writer.account }).lean()).toMatchObject({ is_erasing: true })
  await server.close()

  server = await start()
  await vi.waitFor(async () => expect((await stateOf(id))?.forgotten_at).toBeTruthy(), { timeout: 30_000 })
  server.setAhead(120)
  await vi.waitFor(async () => expect((await stateOf(id))?.finished_at).toBeTruthy(), { timeout: 60_000 })
  await expectNothingLeft(writer, room)
})
