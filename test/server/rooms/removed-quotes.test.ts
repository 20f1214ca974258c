// Modes: embedded, two-nodes
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RoomEvents } from '#server/log/model'
import { social } from '#shared/api/moderation/social'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { befriend, channelOf, moderates, type Person, people, person, say } from '#test/support/people'

const hour = 3_600
let server: Booted
let owner: Person
let reader: Person
let ahead = 0
let round = 0
beforeAll(async () => {
  server = await boot({ environment: { ERASURE_GRACE_DAYS: '0' }, entry: 'through the door' })
  ;[owner, reader] = await people(server, 'owner', 'reader')
})
afterAll(() => server.close())

const pass = (seconds: number) => {
  ahead += seconds
  server.setAhead(ahead)
}
const storedIn = async (room: RoomRef) => JSON.stringify(await RoomEvents.find({ room: roomKey(room) }).lean())
const isGone = (room: RoomRef, words: string) =>
  vi.waitFor(async () => expect(await storedIn(room)).not.toContain(words), { timeout: 60_000, interval: 100 })
const eraseMessagesOf = (author: Person) =>
  author.does('rest', ownData.erase, { messages: 'erase', confirm: author.account })

type Ending = [how: string, end: (room: RoomRef, said: { id: string; author: Person }) => Promise<unknown>]
const endings: Ending[] = [
  ['its author deletes it', (room, { id, author }) => author.does('rest', messages.remove, { room, id })],
  ['a moderator deletes it', (room, { id }) => moderates(owner, { room, action: 'delete', message_id: id })],
  ['a purge takes it', (room, { author }) => moderates(owner, { room, action: 'purge', target: author.account })],
  ['its author is erased with all messages', (_room, { author }) => eraseMessagesOf(author)],
  [
    'it is as old as the room keeps messages',
    async (room) => {
      await moderates(owner, { room, action: 'rules', patch: { rules: { message_ttl: hour } } } as never)
      pass(hour + 60)
    },
  ],
]

test.each(endings)(
  'P27: no quote of a message is stored once %s, whether the reply is edited, pinned or reported',
  async (_how, end) => {
    const author = await person(server, `author ${++round}`)
    const room = await channelOf(owner, author, reader)
    const secret = `rhubarb ${round}`
    const said = await say(author, room, secret)
    const replies: { id: string }[] = []
    for (const text of ['edited', 'pinned', 'reported'])
      replies.push(await say(reader, room, text, { reply_to: said.id }))
    const [edited, pinned, reported] = replies.map(({ id }) => id)
    await reader.does('rest', messages.edit, { room, id: edited ?? '', text: 'edited since' })
    await moderates(owner, { room, action: 'pin', message_id: pinned })
    const fault = { reportedAddress: reader.account, reportType: 'spam', messageId: reported } as const
    await author.does('rest', social.report, fault)
    // Those of the message, of three replies and of an edit.
    expect((await storedIn(room)).split(secret)).toHaveLength(6)
    await end(room, { id: said.id, author })
    await isGone(room, secret)
    // Nor does what a node has in memory bring it back.
    for (const who of [await person(server, 'owner'), await person(server, 'reader')])
      await who.does('rest', messages.react, { room, id: pinned ?? '', emoji: '👍' })
    expect(await storedIn(room)).not.toContain(secret)
    const shown = (await owner.does('rest', messages.history, { room })).messages.find(({ id }) => id === pinned)
    expect(shown).toMatchObject({ content: 'pinned', reply_to: null })
  },
)

test.each([
  [
    'its author deletes it',
    (room: RoomRef, id: string, author: Person) => author.does('rest', messages.remove, { room, id }),
  ],
  ['its author is erased with all messages', (_room: RoomRef, _id: string, author: Person) => eraseMessagesOf(author)],
] as const)('P27: no ciphertext of a direct message is stored in a reply once %s', async (_how, end) => {
  const author = await person(server, `writes sealed ${++round}`)
  const other = await person(server, `answers sealed ${round}`)
  await befriend(author, other)
  const room = dmOf(author.account, other.account)
  const ciphertext = randomBytes(40).toString('base64')
  const { id } = await say(author, room, ciphertext)
  const reply = await say(other, room, randomBytes(40).toString('base64'), { reply_to: id })
  expect((await storedIn(room)).split(ciphertext)).toHaveLength(3)
  await end(room, id, author)
  await isGone(room, ciphertext)
  await other.does('rest', messages.react, { room, id: reply.id, emoji: '👍' })
  expect(await storedIn(room)).not.toContain(ciphertext)
})

test('what a message quotes goes with it and its edits, before the quoted one goes', async () => {
  const author = await person(server, `is quoted ${++round}`)
  const room = await channelOf(owner, author, reader)
  const secret = `rhubarb ${round}`
  const said = await say(author, room, secret)
  const reply = await say(reader, room, 'a reply', { reply_to: said.id })
  await reader.does('rest', messages.edit, { room, id: reply.id, text: 'an edited reply' })
  await reader.does('rest', messages.remove, { room, id: reply.id })
  await vi.waitFor(async () => expect((await storedIn(room)).split(secret)).toHaveLength(2))
})
