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
import { messageFactOf } from '#server/domains/rooms/room-state/facts'
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
import { fileNameIn } from '#shared/kit/file-name'
import { peerIn, roomOfKey } from '#shared/kit/room-key'
import { type ArchivePart, ownRows, partSchemaOf, partsByDomain } from './erased-rows.ts'

/** A current or former room of an account. */
interface Conversation {
  key: RoomKey
  name: string
}

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

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}article{margin:1rem 0}time,.from{color:#666}p{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}img{max-width:100%}'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** The head of a page. Its policy forbids scripts and requests to other sites. */
const headOf = (title: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"><title>${escapedHtml(title)}</title><style>${style}</style><h1>${escapedHtml(title)}</h1>\n`

/** The head of the page of a conversation. */
const conversationHead = (name: string): string =>
  `${headOf(name)}<p><a href="../index.html">All of the archive</a></p>\n`

function messageAsPage(message: Message, fileOf: (url: string) => string | null): string {
  const files = message.attachments.flatMap(({ url }) => fileOf(url) ?? [])
  const named = [...message.content.matchAll(/https?:\/\/[^\s)\]"'<>]+/g)].flatMap(([url]) => fileOf(url) ?? [])
  const shown = [...new Set([...files, ...named])].map(fileAsPage).join('')
  const text = message.is_deleted ? '<p><i>Deleted</i></p>' : `<p dir="auto">${escapedHtml(message.content)}</p>`
  return `<article><span class="from">${escapedHtml(message.sender.name)}</span> <time>${escapedHtml(message.created_at)}</time>${text}${shown}</article>\n`
}

function fileAsPage(path: string): string {
  const address = escapedHtml(`../${path.split('/').map(encodeURIComponent).join('/')}`)
  const isPicture = /\.(png|jpe?g|gif|webp)$/.test(path)
  return isPicture
    ? `<img src="${address}" alt="" loading="lazy">`
    : `<p><a href="${address}">${escapedHtml(path)}</a></p>`
}

interface Contents {
  account: string
  madeAt: string
  conversations: readonly { name: string; page: string; messages: number }[]
  data: readonly { path: string; rows: number }[]
  files: number
}

/** The index page. */
function indexPage({ account, madeAt, conversations, data, files }: Contents): string {
  const rooms = conversations.map(
    ({ name, page, messages }) =>
      `<li><a href="${escapedHtml(page)}" dir="auto">${escapedHtml(name)}</a> (${messages})</li>`,
  )
  const rows = data.map(
    ({ path, rows }) => `<li><a href="${escapedHtml(path)}">${escapedHtml(path)}</a> (${rows})</li>`,
  )
  return [
    headOf('Your data'),
    `<p>Account ${escapedHtml(account)}, as it was on ${escapedHtml(madeAt)}. The numbers are how many entries there are.</p>`,
    `<h2>Messages</h2><ul>${rooms.join('\n')}</ul>`,
    `<h2>Everything else</h2><ul>${rows.join('\n')}</ul>`,
    `<p>Files: ${files}. <a href="manifest.json">manifest.json</a> has the checksum of each part.</p>\n`,
  ].join('\n')
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
  const domains = partsByDomain()
  const conversations = await conversationsOf(node, account)
  const files = withFiles ? await filesOf(account) : new Map<string, StoredUpload>()
  const total = domains.size + conversations.length + files.size
  let done = 0
  const next = async () => {
    signal.throwIfAborted()
    done += 1
    await onPart(done, total)
  }
  const data: { path: string; rows: number }[] = []
  for (const [domain, parts] of domains) {
    data.push(await addDomain(archive, account, domain, parts))
    await next()
  }
  const rooms: { name: string; page: string; messages: number }[] = []
  for (const conversation of conversations) {
    const place = `messages/${String(rooms.length + 1).padStart(5, '0')}`
    rooms.push(await addConversation(node, archive, account, conversation, { place, files, folder }))
    await next()
  }
  for (const [key, { bytes }] of files) {
    const found = bytes > 0 ? await node.services.storage?.read(key) : null
    if (found) await archive.add(pathOf(key), found.bytes, false)
    await next()
  }
  const contents = { account, madeAt: madeAt.toISOString(), conversations: rooms, data, files: files.size }
  await archive.add('index.html', [indexPage(contents)])
  await archive.close()
  return path
}

/** Some systems forbid colons in file names. A file has its own name. */
function pathOf(key: string): string {
  const name = fileNameIn(key)
  const named = name === null ? key : `${key.slice(0, key.indexOf('.'))}/${name}`
  return `files/${named.replaceAll(':', '_')}`
}

/** Adds the rows of a domain with their schema. */
async function addDomain(archive: Archive, account: string, domain: string, parts: readonly ArchivePart[]) {
  const path = `data/${domain}.json`
  let rows = 0
  async function* json() {
    const properties = Object.fromEntries(
      parts.map((part) => [part.source.collection.collectionName, partSchemaOf(part)]),
    )
    yield `{"schema":${JSON.stringify({ type: 'object', properties })}`
    for (const part of parts) {
      yield `,\n${JSON.stringify(part.source.collection.collectionName)}:[`
      let isFirst = true
      for await (const row of ownRows(part, account)) {
        yield `${isFirst ? '' : ','}\n${JSON.stringify(row)}`
        isFirst = false
        rows += 1
      }
      yield ']'
    }
    yield '}\n'
  }
  await archive.add(path, json())
  return { path, rows }
}

interface Placed {
  place: string
  files: ReadonlyMap<string, StoredUpload>
  folder: string
}

/** Adds the messages of a conversation as JSON and as a page, in one pass. */
async function addConversation(
  node: Node,
  archive: Archive,
  account: string,
  { key, name }: Conversation,
  { place, files, folder }: Placed,
) {
  const draft = join(folder, 'page.html')
  const page = createWriteStream(draft, { mode: 0o600 })
  const isBroken = new Promise<never>((_resolve, reject) => page.once('error', reject))
  isBroken.catch(() => undefined)
  const write = async (text: string) => {
    if (!page.write(text)) await Promise.race([new Promise<void>((resolve) => page.once('drain', resolve)), isBroken])
  }
  const fileOf = (url: string) => {
    const found = keyAt(node.settings.storageUrl, url)
    return found !== null && files.has(found) ? pathOf(found) : null
  }
  let messages = 0
  async function* json() {
    const schema = { type: 'array', items: messageSchema }
    yield `{"schema":${JSON.stringify(schema)},\n"room":${JSON.stringify({ ...roomOfKey(key), name })},\n"messages":[`
    await write(conversationHead(name))
    for await (const message of messagesForOwner(node, account, key)) {
      yield `${messages === 0 ? '' : ','}\n${JSON.stringify(message)}`
      await write(messageAsPage(message, fileOf))
      messages += 1
    }
    yield ']}\n'
  }
  try {
    await archive.add(`${place}.json`, json())
    await Promise.race([new Promise<void>((resolve) => page.end(resolve)), isBroken])
    await archive.add(`${place}.html`, createReadStream(draft))
  } finally {
    page.destroy()
    await rm(draft, { force: true })
  }
  return { name, page: `${place}.html`, messages }
}

const messageSchema = z.toJSONSchema(Message, { io: 'output', unrepresentable: 'any' })

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
