import { mongo } from 'mongoose'
import { isDuplicate } from '#server/ports/database/port'
import { longestInsertMilliseconds } from './limits.ts'
import { RoomEvents, RoomHeads, RoomLeases } from './model.ts'
import type { LogStore, RoomHead, RoomKey, Row } from './types.ts'

/** The driver's limit for a connection and an answer; the server has the rest of the longest insert. */
const longestWaitMilliseconds = 3_000

export function mongooseLogStore(alone: boolean): LogStore {
  return {
    alone,

    insert: alone ? insertHere : insertOnce,

    read: (room, after, limit) => rowsWhere({ room, seq: { $gt: after, $lte: after + limit } }, { seq: 1 }),

    byCid: (room, sender, cid) => rowWhere({ room, sender, cid }),

    async raiseHeads(moved, movedAt) {
      const write = () =>
        heads().bulkWrite(
          moved.map((head) => raised(head, movedAt)),
          { ordered: false },
        )
      // If another node creates the head meanwhile, the second write finds it.
      await write().catch((error) => {
        if (!isDuplicate(error)) throw error
        return write()
      })
    },

    async headOf(room) {
      const head = await heads().findOne({ _id: room })
      return head ? headFrom(head) : { room, epoch: '', seq: 0, total: 0, materialised: 0 }
    },

    async headsMovedSince(movedAt) {
      const moved = await heads()
        .find({ moved_at: { $gte: movedAt } })
        .toArray()
      return moved.map(headFrom)
    },

    async advanced(positions) {
      if (positions.length === 0) return []
      const next = positions.map(({ room, seq }) => ({ room, seq: seq + 1 }))
      const rows = await events().find({ $or: next }).project<{ room: RoomKey }>({ room: 1 }).toArray()
      return rows.map(({ room }) => room)
    },

    async writeLeases(node, leases, at, beat) {
      const writes = leases.map(({ room, confirmed }) => ({
        updateOne: {
          filter: { _id: `${room} ${node}` },
          update: { $set: { room, node, applied: confirmed, beat, at: new Date(at) } },
          upsert: true,
        },
      }))
      await RoomLeases.bulkWrite(writes, { ordered: false })
    },

    async leasesOf(room, since) {
      const leases = await RoomLeases.find({ room, at: { $gte: new Date(since) } }).lean()
      return leases.map(({ node, applied, beat, at }) => ({ node, confirmed: applied, beat: beat ?? at.getTime() }))
    },
  }
}

async function insertHere(rows: readonly Row[]): Promise<void> {
  await events().insertMany(rows.map(stored), { ordered: true, writeConcern: { j: true } })
}

/** One command, which the driver never repeats by itself, and which driver and server end after their time. */
async function insertOnce(rows: readonly Row[]): Promise<void> {
  const { db } = RoomEvents.db
  if (!db) throw new mongo.MongoNotConnectedError('The database is not connected.')
  const command = {
    insert: RoomEvents.collection.collectionName,
    documents: rows.map(stored),
    ordered: true,
    maxTimeMS: longestInsertMilliseconds - longestWaitMilliseconds,
    writeConcern: { w: 'majority', j: true },
  }
  const { writeErrors: [first] = [], writeConcernError } = await db.command(command, {
    readPreference: 'primary',
    timeoutMS: longestWaitMilliseconds,
  })
  const failure = first ?? writeConcernError
  if (failure) throw new mongo.MongoServerError(failure)
}

/** The messages of a room by a closed range of `n`, ascending. */
export function messagesBetween(room: RoomKey, fromN: number, toN: number): Promise<Row[]> {
  return rowsWhere({ room, n: { $gte: fromN, $lte: toN } }, { n: 1 })
}

const placesAQuery = 100

/** Messages of many rooms by their `n`, in no order. */
export async function messagesAt(places: readonly { room: RoomKey; n: number }[]): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < places.length; start += placesAQuery)
    rows.push(...(await rowsWhere({ $or: places.slice(start, start + placesAQuery) }, {})))
  return rows
}

/** The last message that this account sent to the room. */
export async function lastMessageOf(room: RoomKey, sender: string): Promise<Row | null> {
  const range = { $gte: 1, $lte: Number.MAX_SAFE_INTEGER }
  const [row] = await rowsWhere({ room, sender, n: range }, { n: -1 }, 1)
  return row ?? null
}

export function rowById(room: RoomKey, id: string): Promise<Row | null> {
  return rowWhere({ _id: id, room })
}

/** What an event leaves of a row's body: these fields, without those that are undefined. Others stay as they are. */
interface RowRewrite {
  id: string
  /** That of the event. */
  seq: number
  fields: { readonly [name: string]: unknown }
}

/** Writes later events into rows, in one write. Rows to which those events or newer ones are applied already stay. */
export async function rewriteRows(room: RoomKey, rewrites: readonly RowRewrite[]): Promise<void> {
  if (rewrites.length === 0) return
  const writes = rewrites.map(({ id, seq, fields }) => {
    const named = Object.entries(fields).map(([name, value]) => [`body.${name}`, value] as const)
    const set = Object.fromEntries(named.filter(([, value]) => value !== undefined))
    const unset = Object.fromEntries(named.flatMap(([path, value]) => (value === undefined ? [[path, '']] : [])))
    const filter = { _id: id, room, applied_seq: { $lt: seq } }
    const gone = Object.keys(unset).length > 0 ? { $unset: unset } : {}
    return { updateOne: { filter, update: { $set: { ...set, applied_seq: seq }, ...gone } } }
  })
  await events().bulkWrite(writes as never, { ordered: false })
}

async function rowsWhere(filter: object, sort: Record<string, 1 | -1>, limit?: number): Promise<Row[]> {
  const cursor = events().find(filter).sort(sort)
  const found = await (limit === undefined ? cursor : cursor.limit(limit)).toArray()
  return found.map(rowFrom)
}

async function rowWhere(filter: object): Promise<Row | null> {
  const found = await events().findOne(filter)
  return found && rowFrom(found)
}

// Collections of the driver: the log checks rows itself, and casts by mongoose would cost more than the insert.
const events = () => collectionOf<Stored>(RoomEvents)
const heads = () => collectionOf<StoredHead>(RoomHeads)

function collectionOf<T extends { _id: string }>(model: { collection: unknown }) {
  return model.collection as mongo.Collection<T>
}

/** The fields that a row and its document have in common. */
type Common = Omit<Row, 'v' | 'n' | 'chained' | 'erased'>

/** A row as stored. Absent fields keep it out of the partial indexes. */
interface Stored extends Common {
  v?: number
  n?: number
  chained?: true
  erased?: string
}

function stored(row: Row): Stored {
  const document: Stored = common(row)
  document.v = row.v
  if (row.n !== null) document.n = row.n
  if (row.chained) document.chained = true
  return document
}

const rowFrom = (document: Stored): Row =>
  Object.assign(
    common(document),
    { v: document.v ?? 1, n: document.n ?? null, chained: document.chained ?? false },
    document.erased === undefined ? null : { erased: document.erased },
  )

// Copying field by field costs a tenth of a rest pattern.
function common(from: Common): Common {
  const { _id, room, seq, epoch, type, total, sender, cid, body, target, until, reason, at, chain, applied_seq } = from
  return { _id, room, seq, epoch, type, total, sender, cid, body, target, until, reason, at, chain, applied_seq }
}

type StoredHead = Omit<RoomHead, 'room' | 'materialised'> & { _id: RoomKey; applied: number; moved_at: number }

function headFrom({ _id, epoch, seq, total, applied }: StoredHead): RoomHead {
  return { room: _id, epoch, seq, total, materialised: applied }
}

function raised({ room, epoch, seq, total, materialised }: RoomHead, movedAt: number) {
  return {
    updateOne: {
      filter: { _id: room },
      update: { $max: { seq, total, applied: materialised, moved_at: movedAt }, $setOnInsert: { epoch } },
      upsert: true,
    },
  }
}

/** Entries of the moderation log, by seq in one room or by time in all; newest first by default. */
export function chainedRows(
  room: RoomKey | null,
  filter: object,
  limit: number,
  direction: 1 | -1 = -1,
): Promise<Row[]> {
  const where = { chained: true, ...(room === null ? {} : { room }), ...filter }
  return rowsWhere(where, room === null ? { at: direction } : { seq: direction }, limit)
}
