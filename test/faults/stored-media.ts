import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import type { Storage } from '#server/ports/storage/port'
import type { Meeting } from './attender.ts'
import { insistOnReading } from './insist.ts'
import type { Room } from './sender.ts'
import { type Documents, readStore } from './stored.ts'

const Record = z.object({ _id: z.string(), content: z.string(), stored_at: z.date().optional() })
const Member = z.object({ user_address: z.string() })

/** What was uploaded, and who is in rooms of attendance, read without the servers. */
export interface StoredMedia {
  blobs: ReadonlyMap<string, { sha256: string }>
  /** One that is not stored belongs to an upload that failed. */
  records: ReadonlyMap<string, { sha256: string; isStored: boolean }>
  /** Of the messages that name uploads. */
  texts: readonly string[]
  /** Of each channel of attendance. */
  members: ReadonlyMap<string, ReadonlySet<string>>
  /** Those that everybody holds a token of who holds one. */
  events: readonly number[]
}

export async function readMedia(
  store: Documents,
  storage: Storage,
  { room, meetings }: { room: Room; meetings: readonly Meeting[] },
): Promise<StoredMedia> {
  const read = (name: string, filter: object) => insistOnReading(() => store.collection(name).find(filter).toArray())
  const blobs = new Map<string, { sha256: string }>()
  // One failed request of thousands is repeated alone.
  const keys = await insistOnReading(async () => {
    const listed: string[] = []
    for await (const { key } of storage.list('chat-images')) listed.push(key)
    return listed
  })
  for (const key of keys) {
    const bytes = await insistOnReading(async () => {
      const found = await storage.read(key)
      return found && (await buffer(found.bytes))
    })
    if (bytes) blobs.set(key, { sha256: createHash('sha256').update(bytes).digest('hex') })
  }
  const records = (await read('uploads', {})).map((record) => Record.parse(record))
  const members = new Map<string, ReadonlySet<string>>()
  for (const { key } of meetings) {
    const inside = await read('members', { room: key, is_active: true })
    members.set(key, new Set(inside.map((member) => Member.parse(member).user_address)))
  }
  return {
    blobs,
    records: new Map(
      records.map(({ _id, content, stored_at }) => [
        _id,
        { sha256: Buffer.from(content, 'base64url').toString('hex'), isStored: stored_at !== undefined },
      ]),
    ),
    texts: (await readStore(store, room)).flatMap(({ effect }) => (effect.kind === 'message' ? [effect.text] : [])),
    members,
    events: meetings.map(({ event }) => event).sort(),
  }
}

export const nothingStored: StoredMedia = {
  blobs: new Map(),
  records: new Map(),
  texts: [],
  members: new Map(),
  events: [],
}
