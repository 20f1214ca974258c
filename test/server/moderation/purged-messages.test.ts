// Modes: embedded, two-nodes
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { resumeRemovals } from '#server/domains/platform/own-data/erasing'
import { removePurged, removingPurged } from '#server/domains/rooms/messages/removals'
import { Polls, RoomFacts } from '#server/domains/rooms/room-state/model'
import type { Job } from '#server/kernel/context'
import { StoredJobs } from '#server/kernel/store/model'
import { RoomEvents } from '#server/log/model'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { api } from '#shared/api/index'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { AppError } from '#shared/errors'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { storeMessages } from '#test/support/many-messages'
import { channelOf, moderates, type Person, people, say } from '#test/support/people'
import { storeFileOn } from '#test/support/stored-files'

let folder: string
let storage: Storage
let server: Booted
let owner: Person
let author: Person
let reader: Person
beforeAll(async () => {
  // The deadlines are those of a real installation.
  folder = await mkdtemp(join(tmpdir(), 'plaza-purged-'))
  storage = await localStorage(folder)
  server = await boot({ services: { storage }, change: (platform) => ({ ...platform, deadlineFactor: 1 }) })
  ;[owner, author, reader] = await people(server, 'owner', 'author', 'reader')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const node = () => (server.apps[0] ?? expect.fail()).node
/** From now on no removal of purged texts is planned, until the returned function is called. */
function keepRemovalsOff() {
  const planned = vi.fn()
  const spies = server.apps.map(({ node: { jobs } }) => {
    const add = jobs.add.bind(jobs)
    const addOthers = async (job: Job, ...rest: [object]) =>
      job.kind === removingPurged.kind ? planned() : add(job, ...rest)
    return vi.spyOn(jobs, 'add').mockImplementation(addOthers as never)
  })
  const restore = () => {
    for (const spy of spies) spy.mockRestore()
  }
  onTestFinished(restore)
  return { planned, restore }
}
const secret = 'rhubarb'
const storedIn = async (room: RoomRef) => JSON.stringify(await RoomEvents.find({ room: roomKey(room) }).lean())
const inStore = (room: RoomRef) =>
  RoomEvents.countDocuments({ room: roomKey(room), sender: author.account, 'body.text': { $gt: '' } })

/** All that doors show of a room, from its first event to its last. */
async function shownIn(who: Person, room: RoomRef): Promise<string> {
  const pages: unknown[] = []
  for (let after_seq = 0, isMore = true; isMore; ) {
    const page = await who.does('rest', messages.history, { room, after_seq, limit: 100 })
    pages.push(page)
    after_seq = page.messages.at(-1)?.seq ?? after_seq
    isMore = page.has_more
  }
  for (let after_seq = 0, isMore = true; isMore; ) {
    const page = await who.does('rest', messages.sync, { room, after_seq, limit: 200 })
    pages.push(page)
    after_seq = page.next_after_seq
    isMore = !page.complete
  }
  pages.push((await who.does('rest', messages.pins, { room })).pinnedMessages)
  pages.push((await who.does('rest', polls.list, { room })).polls)
  pages.push(await who.does('rest', api.inbox.list, { limit: 100 }))
  return JSON.stringify(pages)
}

test(
  'P6: a purge of thousands of messages is answered at once, and from then on no door shows one of them',
  heavy,
  async () => {
    const room = await channelOf(owner, author, reader)
    await storeMessages(server, room, author.account, { count: 5_000, text: secret })
    const purged = await owner.does('rest', moderation.act, { room, action: 'purge', target: author.account })
    expect(purged).toMatchObject({ effects: { messages_removed: 5_000 } })
    expect(await inStore(room)).toBeGreaterThan(0)
    expect(await shownIn(reader, room)).not.toContain(secret)
    await say(reader, room, 'we go on')
    await vi.waitFor(async () => expect(await inStore(room)).toBe(0), { timeout: 60_000, interval: 100 })
    expect(await storedIn(room)).not.toContain(secret)
    expect(await RoomEvents.countDocuments({ room: roomKey(room), type: 'messages.purged' })).toBe(1)
    await vi.waitFor(async () => expect(await RoomFacts.countDocuments({ room: roomKey(room), is_open: true })).toBe(0))
    await say(author, room, 'said afterwards')
    expect(await shownIn(reader, room)).toContain('said afterwards')
  },
)

test('P6: readers go by the purge while the texts are still stored, and a second purge is not needed for them', async () => {
  const { planned } = keepRemovalsOff()
  const room = await channelOf(owner, author, reader)
  const asks = { room, question: `${secret}?`, options: [`${secret} a`, `${secret} b`] }
  const { poll, message } = await author.does('rest', polls.create, asks)
  const named = await say(author, room, `${secret} for @${reader.account}`, {
    mentions: [{ kind: 'user', id: reader.account, start: secret.length + 5, len: reader.account.length + 1 }],
  })
  await author.does('rest', messages.edit, { room, id: named.id, text: `${secret} edited for @${reader.account}` })
  await moderates(owner, { room, action: 'pin', message_id: named.id })
  await say(owner, room, 'an answer', { reply_to: named.id })
  const ofReader = async () =>
    (await reader.does('rest', api.inbox.list, { limit: 100 })).rooms.find(({ id }) => id === room.id)
  expect(await ofReader()).toMatchObject({ unread: 3, mentions: 1 })
  await storeMessages(server, room, author.account, { count: 250, text: secret })

  const purge = { room, action: 'purge', target: author.account } as const
  expect((await moderates(owner, purge)).effects.messages_removed).toBe(252)
  expect(planned).toHaveBeenCalledTimes(1)
  expect(await inStore(room)).toBe(52)
  expect(await shownIn(reader, room)).not.toContain(secret)
  expect(await ofReader()).toMatchObject({ unread: 1, mentions: 0 })
  const found = await reader.does('rest', messages.search, { room, query: secret })
  expect(found.messages).toEqual([])
  for (const id of [named.id, message.id]) {
    const again = await owner.does('rest', moderation.act, { room, action: 'delete', message_id: id })
    expect(JSON.stringify(again)).not.toContain(secret)
  }
  expect(await reader.refused('rest', polls.voters, { room, pollId: poll.id })).toMatchObject({ code: 'NOT_FOUND' })
  expect((await moderates(owner, purge)).effects.messages_removed).toBe(0)

  expect(await removePurged(node(), roomKey(room), author.account)).toBe(true)
  expect(await inStore(room)).toBe(0)
  expect(await storedIn(room)).not.toContain(secret)
  expect(JSON.stringify(await Polls.find({ room: roomKey(room) }).lean())).not.toContain(secret)
  expect(await RoomFacts.countDocuments({ room: roomKey(room), is_open: true })).toBe(0)
})

test('the removal of purged texts goes on where it was, and fails only if it gets nowhere', async () => {
  const room = await channelOf(owner, author)
  await storeMessages(server, room, author.account, { count: 650, text: secret })
  const findOne = RoomFacts.findOne.bind(RoomFacts) as unknown as (...given: object[]) => unknown
  const { restore } = keepRemovalsOff()
  await moderates(owner, { room, action: 'purge', target: author.account })
  restore()
  expect(await inStore(room)).toBe(450)
  let reads = 0
  const failing = vi.spyOn(RoomFacts, 'findOne').mockImplementation(((...given: object[]) => {
    reads += 1
    if (reads % 2 === 0) throw new Error('the store is away')
    return findOne(...given)
  }) as never)
  onTestFinished(() => failing.mockRestore())
  const remove = () => removePurged(node(), roomKey(room), author.account)
  expect([await remove(), await inStore(room)]).toEqual([false, 250])
  expect([await remove(), await inStore(room)]).toEqual([false, 50])
  reads = 1
  await expect(remove()).rejects.toThrow('the store is away')
  failing.mockRestore()
  expect([await remove(), await inStore(room)]).toEqual([true, 0])
})

const fileKeyOf = (name: string) => `media/chat/${author.account.toLowerCase()}/${name}.pdf`
const storeFile = (name: string) => storeFileOn(server, author.account, fileKeyOf(name), new Uint8Array(40))
const isStored = async (name: string) => (await storage.sizeOf(fileKeyOf(name))) !== null
const sayWith = (room: RoomRef, url: string) => say(author, room, 'Here', { attachments: [{ url, name: 'plan.pdf' }] })

/** The statuses of the answers of all nodes at the address of a file. */
async function answers(url: string): Promise<number[]> {
  const asked = server.urls.flatMap((base) => {
    const at = `${base}${new URL(url).pathname}`
    return [fetch(at), fetch(at, { method: 'HEAD' }), fetch(at, { headers: { Range: 'bytes=0-9' } })]
  })
  return [...new Set((await Promise.all(asked)).map(({ status }) => status))].sort()
}

test('P6: on each node a file of purged messages is none from the purge on, unless others show it', async () => {
  keepRemovalsOff()
  const [room, other] = [await channelOf(owner, author), await channelOf(owner, author)]
  const [gone, kept] = [await storeFile('gone'), await storeFile('kept')]
  for (const url of [gone, kept]) await sayWith(room, url)
  await sayWith(other, kept)
  await storeMessages(server, room, author.account, { count: 250, text: secret })
  expect([await answers(gone), await answers(kept)]).toEqual([
    [200, 206],
    [200, 206],
  ])
  await moderates(owner, { room, action: 'purge', target: author.account })
  expect(await isStored('gone')).toBe(true)
  expect([await answers(gone), await answers(kept)]).toEqual([[404], [200, 206]])
  expect(await removePurged(node(), roomKey(room), author.account)).toBe(true)
  expect([await isStored('gone'), await isStored('kept')]).toEqual([false, true])
  expect([await answers(gone), await answers(kept)]).toEqual([[404], [200, 206]])
})

test('P6: all files of a purge are removed with its texts, however many there are', async () => {
  keepRemovalsOff()
  const room = await channelOf(owner, author)
  const names = Array.from({ length: 60 }, (_, at) => `many-${at}`)
  for (const name of names) await sayWith(room, await storeFile(name))
  const left = async () => (await Promise.all(names.map(isStored))).filter(Boolean).length
  const remove = storage.remove.bind(storage)
  const texts: number[] = []
  const removing = vi.spyOn(storage, 'remove').mockImplementation(async (key) => {
    texts.push(await inStore(room))
    return remove(key)
  })
  onTestFinished(() => removing.mockRestore())
  await moderates(owner, { room, action: 'purge', target: author.account })
  expect(await left()).toBe(10)
  expect(await removePurged(node(), roomKey(room), author.account)).toBe(true)
  expect(await left()).toBe(0)
  // Each file goes before the text that names it, so that a process that dies leaves none behind.
  expect([texts.length, Math.min(...texts)]).toEqual([60, 10])
})

test(
  'P6: while the storage fails, a file of a purge is none and its text waits; soon both are removed',
  heavy,
  async () => {
    const room = await channelOf(owner, author)
    const url = await storeFile('waits')
    await sayWith(room, url)
    const remove = storage.remove.bind(storage)
    let isAway = true
    const removing = vi.spyOn(storage, 'remove').mockImplementation(async (key) => {
      if (isAway) throw new AppError('TIMEOUT')
      return remove(key)
    })
    onTestFinished(() => removing.mockRestore())
    await moderates(owner, { room, action: 'purge', target: author.account })
    expect([await isStored('waits'), await inStore(room)]).toEqual([true, 1])
    await expect.poll(() => removing.mock.calls.length).toBeGreaterThan(1)
    expect([await isStored('waits'), await inStore(room)]).toEqual([true, 1])
    expect([await answers(url), (await shownIn(reader, room)).includes('plan.pdf')]).toEqual([[404], false])
    isAway = false
    await vi.waitFor(async () => expect(await inStore(room)).toBe(0), { timeout: 30_000, interval: 100 })
    expect(await isStored('waits')).toBe(false)
  },
)

test('P6: the removal of purged texts is taken up again, once a day, after its job was given up', async () => {
  const room = await channelOf(owner, author)
  await storeMessages(server, room, author.account, { count: 250, text: secret })
  const { restore } = keepRemovalsOff()
  await moderates(owner, { room, action: 'purge', target: author.account })
  restore()
  expect(await inStore(room)).toBe(50)
  const ofRemovals = { kind: removingPurged.kind }
  const before = await StoredJobs.countDocuments(ofRemovals)
  const look = async () => {
    for (const { node: each } of server.apps) await resumeRemovals(each)
    return (await StoredJobs.countDocuments(ofRemovals)) - before
  }
  expect(await look()).toBe(0)
  server.setAhead(3_700)
  expect([await look(), await look()]).toEqual([1, 1])
  await vi.waitFor(async () => expect(await inStore(room)).toBe(0), { timeout: 30_000, interval: 100 })
  expect(await storedIn(room)).not.toContain(secret)
  expect(JSON.stringify(await StoredJobs.find(ofRemovals).lean())).not.toContain(author.account)
})
