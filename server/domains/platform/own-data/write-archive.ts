import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { z } from 'zod'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { namesOfPeople } from '#server/domains/people/accounts/profiles'
import { messagesOf } from '#server/domains/rooms/messages/pages'
import { messageFactOf, pollIn } from '#server/domains/rooms/room-state/facts'
import { isKnownRoom, kindOf } from '#server/domains/rooms/room-state/kinds'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { presentRows } from '#server/domains/rooms/room-state/redaction'
import type { Node } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import type { RoomKey, Row } from '#server/log/types'
import { keyAt } from '#server/ports/storage/port'
import { Message } from '#shared/api/rooms/message'
import { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { peerIn, roomOfKey } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import {
  ArchivedPoll,
  headingOf,
  indexPage,
  type ListedPart,
  messageAsPage,
  type NameOf,
  namesFor,
  pageHead,
  rowAsPage,
  titleOf,
} from './archive-pages.ts'
import { archivePathOf } from './archive-paths.ts'
import {
  actSchema,
  answerSchema,
  type Conversation,
  invitationSchema,
  ownActs,
  ownAnswers,
  ownInvitations,
} from './archived-acts.ts'
import { type ArchivePart, ownRows, partSchemaOf, partsByDomain } from './erased-rows.ts'

const messagesAtOnce = 100

/** The current and former rooms of an account. */
async function conversationsOf(node: Node, account: string): Promise<Conversation[]> {
  const members = await Members.find({ user_address: account, joined_at: { $exists: true } }, { room: 1 }).lean()
  const keys = members.map(({ room }) => room).filter(isKnownRoom)
  const peers = new Map(keys.map((key) => [key, peerIn(roomOfKey(key), account)]))
  const [rooms, people] = await Promise.all([
    Rooms.find({ _id: { $in: keys } }, { name: 1 }).lean(),
    namesOfPeople(
      node,
      [...peers.values()].filter((peer) => peer !== null),
    ),
  ])
  const names = new Map(rooms.map(({ _id, name }) => [_id, name]))
  return keys.map((key) => {
    const peer = peers.get(key) ?? null
    return { key, name: peer === null ? (names.get(key) ?? key) : (people.get(peer) ?? peer) }
  })
}

/**
 * The messages that an account may export. Of conversations that address it these are all, of rooms its own. Replies of
 * others to its own are among them, where it can read the room.
 */
async function* messagesForOwner(node: Node, account: string, key: RoomKey): AsyncGenerator<Message> {
  const own = messagesWhere(key, { sender: account }, true)
  if (!(await isReadable(node, account, key))) yield* own
  else if (kindOf(key).pushed.of === 'all') yield* allMessages(node, account, key)
  else {
    const replies = { 'body.reply_to.sender_address': account, sender: { $ne: account } }
    yield* inOrder(own, messagesWhere(key, replies, false))
  }
}

const pageAfter = (node: Node, account: string, key: RoomKey, after_seq: number, limit: number) =>
  node.callAs(account, contract.history, { room: roomOfKey(key), after_seq, limit })

async function isReadable(node: Node, account: string, key: RoomKey): Promise<boolean> {
  try {
    await pageAfter(node, account, key, 0, 1)
    return true
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false
    throw error
  }
}

async function* allMessages(node: Node, account: string, key: RoomKey): AsyncGenerator<Message> {
  let after = 0
  let isMore = true
  while (isMore) {
    const { messages, has_more } = await pageAfter(node, account, key, after, messagesAtOnce)
    yield* messages
    after = messages.at(-1)?.seq ?? after
    isMore = has_more && messages.length > 0
  }
}

async function* messagesWhere(key: RoomKey, filter: object, isInsider: boolean): AsyncGenerator<Message> {
  let after = 0
  let found = messagesAtOnce
  while (found === messagesAtOnce) {
    const next = { ...filter, room: key, n: { $gt: after, $lte: Number.MAX_SAFE_INTEGER } }
    const rows = await RoomEvents.find(next).sort({ n: 1 }).limit(messagesAtOnce).lean<Row[]>()
    yield* await messagesOf(key, (await presentRows(rows)).map(messageFactOf), isInsider)
    found = rows.length
    after = rows.at(-1)?.n ?? after
  }
}

async function* inOrder(one: AsyncGenerator<Message>, other: AsyncGenerator<Message>): AsyncGenerator<Message> {
  let [first, second] = await Promise.all([one.next(), other.next()])
  while (!first.done || !second.done) {
    if (!first.done && (second.done || first.value.seq < second.value.seq)) {
      yield first.value
      first = await one.next()
    } else if (!second.done) {
      yield second.value
      second = await other.next()
    }
  }
}

interface ArchiveOptions {
  account: string
  withFiles: boolean
  /** A private folder of this run. */
  folder: string
  signal: AbortSignal
  /** Called after each part with its number and the total. */
  onPart(done: number, total: number): Promise<void>
}

/** Writes the archive of an account into the folder, and returns its path. */
export async function writeArchive(node: Node, { account, withFiles, folder, signal, onPart }: ArchiveOptions) {
  const madeAt = new Date(node.now())
  const path = join(folder, 'archive.zip')
  const archive = openArchive(path, madeAt, signal)
  const writing: Writing = { node, archive, account, folder, nameOf: namesFor(node) }
  const domains = partsByDomain()
  const conversations = await conversationsOf(node, account)
  const files = withFiles ? await filesOf(account) : new Map<string, StoredUpload>()
  const total = domains.size + 1 + conversations.length + files.size
  let done = 0
  const next = async () => {
    signal.throwIfAborted()
    done += 1
    await onPart(done, total)
  }
  const data: ListedPart[] = []
  for (const [domain, parts] of domains) {
    const lists = listsOf(parts, account)
    data.push(
      await addData(writing, domain, domain === 'polls' ? [...lists, answerList(node, account, conversations)] : lists),
    )
    await next()
  }
  data.push(await addData(writing, 'moderationLog', actLists(node, account, conversations)))
  await next()
  const rooms: { name: string; page: string; messages: number }[] = []
  for (const conversation of conversations) {
    const place = `messages/${String(rooms.length + 1).padStart(5, '0')}`
    rooms.push(await addConversation(writing, conversation, { place, files }))
    await next()
  }
  for (const [key, { bytes }] of files) {
    const found = bytes > 0 ? await node.services.storage?.read(key) : null
    if (found) await archive.add(archivePathOf(key), found.bytes, false)
    await next()
  }
  const listed = data.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const contents = { account, madeAt: madeAt.toISOString(), conversations: rooms, data: listed, files: files.size }
  await archive.add('index.html', [indexPage(contents)])
  await archive.close()
  return path
}

interface Writing {
  node: Node
  archive: Archive
  account: string
  folder: string
  nameOf: NameOf
}

/** Adds JSON and its page, which is written in the same pass. */
async function addWithPage(
  { archive, folder }: Writing,
  place: string,
  json: (write: (text: string) => Promise<void>) => AsyncGenerator<string>,
): Promise<void> {
  const draft = join(folder, 'page.html')
  const page = createWriteStream(draft, { mode: 0o600 })
  const isBroken = new Promise<never>((_resolve, reject) => page.once('error', reject))
  isBroken.catch(() => undefined)
  const write = async (text: string) => {
    if (!page.write(text)) await Promise.race([new Promise<void>((resolve) => page.once('drain', resolve)), isBroken])
  }
  try {
    await archive.add(`${place}.json`, json(write))
    await Promise.race([new Promise<void>((resolve) => page.end(resolve)), isBroken])
    await archive.add(`${place}.html`, createReadStream(draft))
  } finally {
    page.destroy()
    await rm(draft, { force: true })
  }
}

/** A list of an archive with the schema of its entries. */
interface DataList {
  title: string
  schema: object
  entries: AsyncIterable<object>
}

/** The lists of a domain, by its collections. */
const listsOf = (parts: readonly ArchivePart[], account: string): DataList[] =>
  parts.map((part) => ({
    title: part.source.collection.collectionName,
    schema: partSchemaOf(part),
    entries: ownRows(part, account),
  }))

/** The acts of the account as a moderator, the warnings that it got, and its links of invitation. */
const actLists = (node: Node, account: string, rooms: readonly Conversation[]): DataList[] => [
  { title: 'acts', schema: actSchema, entries: ownActs(account, rooms) },
  { title: 'invitations', schema: invitationSchema, entries: ownInvitations(node, account, rooms) },
]

/** What the account has answered in polls. */
const answerList = (node: Node, account: string, rooms: readonly Conversation[]): DataList => ({
  title: 'answers',
  schema: answerSchema,
  entries: ownAnswers(node, account, readableAmong(node, account, rooms)),
})

async function* readableAmong(node: Node, account: string, rooms: readonly Conversation[]) {
  for (const room of rooms) if (await isReadable(node, account, room.key)) yield room
}

/** Adds lists with their schema. */
async function addData(writing: Writing, part: string, lists: readonly DataList[]): Promise<ListedPart> {
  const place = `data/${part}`
  const name = titleOf(part)
  let rows = 0
  await addWithPage(writing, place, async function* (write) {
    const properties = Object.fromEntries(lists.map(({ title, schema }) => [title, schema]))
    yield `{"schema":${JSON.stringify({ type: 'object', properties })}`
    await write(pageHead(name))
    for (const { title, entries } of lists) {
      yield `,\n${JSON.stringify(title)}:[`
      let isFirst = true
      for await (const entry of entries) {
        yield `${isFirst ? '' : ','}\n${JSON.stringify(entry)}`
        await write(`${isFirst ? headingOf(title) : ''}${await rowAsPage(entry, writing.nameOf)}`)
        isFirst = false
        rows += 1
      }
      yield ']'
    }
    yield '}\n'
  })
  return { name, place, rows }
}

interface Placed {
  place: string
  files: ReadonlyMap<string, StoredUpload>
}

/** Adds the messages of a conversation as JSON and as a page. */
async function addConversation(writing: Writing, { key, name }: Conversation, { place, files }: Placed) {
  const { node, account, nameOf } = writing
  const fileOf = (url: string) => {
    const found = keyAt(node.settings.storageUrl, url)
    return found !== null && files.has(found) ? archivePathOf(found) : null
  }
  const isSealed = sealedBy(roomOfKey(key)) !== null
  let messages = 0
  await addWithPage(writing, place, async function* (write) {
    const schema = { type: 'array', items: messageSchema }
    yield `{"schema":${JSON.stringify(schema)},\n"room":${JSON.stringify({ ...roomOfKey(key), name })},\n"messages":[`
    await write(pageHead(name))
    for await (const sent of messagesForOwner(node, account, key)) {
      const poll = await pollOf(node, key, sent)
      const message = poll ? { ...sent, poll } : sent
      yield `${messages === 0 ? '' : ','}\n${JSON.stringify(message)}`
      const sender = await nameOf(sent.sender_address, sent.sender.name)
      await write(messageAsPage(message, { sender, isSealed, fileOf }))
      messages += 1
    }
    yield ']}\n'
  })
  return { name, page: `${place}.html`, messages }
}

/** The poll of a message in its present state, without its votes. */
async function pollOf(node: Node, key: RoomKey, { poll_id, is_deleted }: Message): Promise<ArchivedPoll | null> {
  if (poll_id === null || is_deleted) return null
  const poll = await node.log.ask(key, (view) => pollIn(view, poll_id))
  return poll && ArchivedPoll.parse(poll)
}

const messageSchema = z.toJSONSchema(Message.extend({ poll: ArchivedPoll.optional() }), {
  io: 'output',
  unrepresentable: 'any',
})

/** The uploads of an account by key, without evidence, which shows messages of others. */
async function filesOf(owner: string): Promise<Map<string, StoredUpload>> {
  const records = await UploadRecords.find({ owner, stored_at: { $exists: true } }).lean<StoredUpload[]>()
  const own = records.filter(({ taken_at, evidence_of }) => taken_at === undefined && evidence_of === undefined)
  return new Map(own.map((record) => [record._id, record]))
}

type Content = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

type Archive = ReturnType<typeof openArchive>

/** Writes a ZIP file part by part, with checksums of the parts at its end. */
function openArchive(path: string, madeAt: Date, signal: AbortSignal) {
  const zip = new ZipFile()
  const files: { path: string; bytes: number; sha256: string }[] = []
  const written = pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }), { signal })
  // Each part awaits it; its failure waits until then.
  written.catch(() => undefined)
  const output = zip.outputStream as Readable
  zip.on('error', (error) => output.destroy(error))

  async function add(name: string, content: Content, isCompressed = true): Promise<void> {
    const hash = createHash('sha256')
    let bytes = 0
    async function* counted() {
      for await (const piece of content) {
        const buffer = Buffer.from(piece as string)
        hash.update(buffer)
        bytes += buffer.byteLength
        yield buffer
      }
    }
    const ended = new Promise<void>((resolve, reject) => {
      const source = Readable.from(counted(), { objectMode: false })
      source.once('end', resolve)
      source.once('error', reject)
      zip.addReadStreamLazy(name, { compress: isCompressed, mtime: madeAt }, (give) => give(null, source))
    })
    await Promise.race([ended, written])
    files.push({ path: name, bytes, sha256: hash.digest('hex') })
  }

  return {
    add,
    async close(): Promise<void> {
      await add('manifest.json', [JSON.stringify({ made_at: madeAt.toISOString(), files }, null, 2)])
      zip.end()
      await written
    },
  }
}
