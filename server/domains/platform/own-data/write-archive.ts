import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'
import { Message } from '#shared/api/rooms/message'
import { fileNameIn } from '#shared/kit/file-name'
import { roomOfKey } from '#shared/kit/room-key'
import { type Archive, openArchive } from './archive.ts'
import { type Conversation, conversationsOf, messagesForOwner } from './conversations.ts'
import { conversationHead, indexPage, messageAsPage } from './pages.ts'
import { type ArchivePart, ownRows, partSchemaOf, partsByDomain } from './rows.ts'

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
