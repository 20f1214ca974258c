import { RoomEvents } from '#server/log/model'
import { messagesAt, messagesBetween, rewriteRows, rowById } from '#server/log/store'
import type { RoomKey, Row } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { purgeRewrite } from './events/changes.ts'
import { pollChanged } from './events/polls.ts'
import { keys, type MessageBody, type PurgeFact, purgedBody, purgeOf } from './facts.ts'
import { Polls, RoomFacts } from './model.ts'
import { rewriteBy } from './projection.ts'
import { forgetTerms } from './search-index.ts'

/** A message with the body that an event of this `seq` leaves. */
interface ChangedMessage {
  id: string
  seq: number
  body: MessageBody
}

/**
 * Writes messages' present states into their rows. Of deleted ones it also removes the texts of their edits, and what others
 * quote. A repetition completes it.
 */
export async function writeMessages(room: RoomKey, changed: readonly ChangedMessage[]): Promise<void> {
  await rewriteRows(
    room,
    changed.map(({ id, seq, body }) => ({ id, seq, fields: fieldsOf(body) })),
  )
  const deleted = changed.filter(({ body }) => body.deleted)
  await clearEdits(
    room,
    deleted.flatMap(({ body }) => body.edits),
  )
  await clearQuotes(
    room,
    deleted.map(({ id }) => id),
  )
}

/** A quote is written with its message alone, so that no later event brings back what was removed of it. */
const fieldsOf = ({ reply_to, media, poll, ...fields }: MessageBody) => ({
  ...fields,
  media,
  poll,
  ...(reply_to === null && { reply_to }),
})

async function clearEdits(room: RoomKey, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return
  const textless = {
    'body.message.body.text': '',
    'body.message.body.mentions': [],
    'body.message.body.reply_to': null,
  }
  await RoomEvents.updateMany({ room, seq: { $in: [...seqs] } }, { $set: textless })
}

const rowsAtOnce = 200

/** Removes what other messages and their edits quote of these. Pinned and reported ones are no exception. */
async function clearQuotes(room: RoomKey, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const ofThese = { $in: [...ids] }
  for (let after = 0; ; ) {
    const next = { room, 'body.reply_to.id': ofThese, n: { $gt: after, $lte: Number.MAX_SAFE_INTEGER } }
    const quoting = await RoomEvents.find(next, { n: 1, 'body.edits': 1 })
      .sort({ n: 1 })
      .limit(rowsAtOnce)
      .lean<{ _id: string; n: number; body: Pick<MessageBody, 'edits'> }[]>()
    const replies = { _id: { $in: quoting.map(({ _id }) => _id) }, room, 'body.reply_to.id': ofThese }
    if (quoting.length > 0) await RoomEvents.updateMany(replies, { $set: { 'body.reply_to.content': '' } })
    const edits = quoting.flatMap(({ body }) => body.edits)
    const edited = { room, seq: { $in: edits }, 'body.message.body.reply_to.id': ofThese }
    if (edits.length > 0) await RoomEvents.updateMany(edited, { $set: { 'body.message.body.reply_to.content': '' } })
    if (quoting.length < rowsAtOnce) return
    after = quoting.at(-1)?.n ?? after
  }
}

/** Removes a poll's texts from all rows up to the event that deleted it. */
export async function clearPollChanges(room: RoomKey, pollId: string, event: Row): Promise<void> {
  const message = await rowById(room, String(event.body.message_id ?? event.body.id))
  await clearPollTexts(room, [pollId], { $gt: message?.seq ?? 0, $lte: event.seq })
}

async function clearPollTexts(room: RoomKey, pollIds: readonly string[], seq: object): Promise<void> {
  const changes = { room, seq, type: pollChanged.type, 'body.poll.poll_id': { $in: [...pollIds] } }
  await RoomEvents.updateMany(changes, { $set: { 'body.poll.question': '', 'body.poll.options': [] } })
}

/** Removes the words of polls from their records too. A record that is still to be written finds a newer one. */
async function clearPolls(room: RoomKey, pollIds: readonly string[], from: number, seq: number): Promise<void> {
  if (pollIds.length === 0) return
  await clearPollTexts(room, pollIds, { $gt: from, $lte: seq })
  const cleared = { room, applied_seq: seq, is_active: false, poll: null }
  const writes = pollIds.map((id) => ({
    updateOne: {
      filter: { _id: `${room}|${keys.poll(id)}`, applied_seq: { $lt: seq } },
      update: { $set: cleared },
      upsert: true,
    },
  }))
  await Polls.bulkWrite(writes as never, { ordered: false }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}

/** A purge whose texts are still stored. */
export interface OpenPurge extends PurgeFact {
  room: RoomKey
  account: string
}
type StoredPurges = { value?: unknown; done_to?: number | null }

const openAmong = ({ value, done_to }: StoredPurges): PurgeFact[] =>
  (value as PurgeFact[]).filter(({ to_seq }) => to_seq > (done_to ?? 0))

/** The purges in these rooms whose texts are still stored. No reader shows these. */
export const openPurgesIn = (rooms: readonly RoomKey[]): Promise<OpenPurge[]> =>
  openPurges({ room: { $in: [...rooms] } })

/** Are texts of any purge still stored? */
export const hasOpenPurge = async (): Promise<boolean> => (await RoomFacts.exists({ is_open: true })) !== null

/** The same in all rooms, or those that match. */
export async function openPurges(within: { room?: { $in: RoomKey[] } } = {}): Promise<OpenPurge[]> {
  const found = await RoomFacts.find({ is_open: true, ...within }).lean()
  return found.flatMap((stored) => {
    const { _id, room } = stored
    const account = _id.slice(`${room}|${keys.purges('')}`.length)
    return openAmong(stored).map((purge) => ({ ...purge, room, account }))
  })
}

/** Of these rooms those in which texts of this account are still stored, although they were purged. */
export async function roomsWithPurgedTexts(rooms: readonly RoomKey[], account: string): Promise<RoomKey[]> {
  const ids = rooms.map((room) => `${room}|${keys.purges(account)}`)
  return (await RoomFacts.find({ _id: { $in: ids }, is_open: true }, { room: 1 }).lean()).map(({ room }) => room)
}

/** Is the text of this message still stored, although it was purged? */
export const isPurged = (open: readonly OpenPurge[], { sender, seq }: Pick<Row, 'sender' | 'seq'>): boolean =>
  open.some((purge) => isSameAccount(purge.account, sender) && purgeOf({ seq }, [purge]) !== undefined)

/** The filter of messages that are deleted, or purged although their texts are still stored. */
export function goneAmong(open: readonly OpenPurge[]): object {
  const deleted = { 'body.deleted.at': { $exists: true } }
  const purged = open.map(({ account, from_seq, to_seq }) => ({
    sender: account,
    seq: { $gte: from_seq, $lte: to_seq },
  }))
  return purged.length === 0 ? deleted : { $or: [deleted, ...purged] }
}

/** Stored rows as they are now: purged texts may still be stored. */
export async function presentRows(rows: readonly Row[]): Promise<Row[]> {
  const open = rows.length === 0 ? [] : await openPurgesIn([...new Set(rows.map(({ room }) => room))])
  const changes = open.map((purge) => ({ room: purge.room, change: rewriteBy(purgeRewrite(purge.account, purge)) }))
  return rows.map((row) => changes.reduce((now, { room, change }) => (room === now.room ? change(now) : now), row))
}

/** The messages of a room by a closed range of `n`, ascending, as they are now. */
export const presentMessagesBetween = async (room: RoomKey, fromN: number, toN: number): Promise<Row[]> =>
  presentRows(await messagesBetween(room, fromN, toN))

/** Messages of many rooms by their `n`, in no order, as they are now. */
export const presentMessagesAt = async (places: readonly { room: RoomKey; n: number }[]): Promise<Row[]> =>
  presentRows(await messagesAt(places))

/** The number of messages that a purge would take from an ordinal on, and the `seq` of the first. */
export async function purgeableFrom(
  room: RoomKey,
  sender: string,
  n: number,
): Promise<{ count: number; from_seq: number }> {
  const open = (await openPurgesIn([room])).filter(({ account }) => isSameAccount(account, sender))
  const taken = open.map(({ from_seq, to_seq }) => ({ seq: { $gte: from_seq, $lte: to_seq } }))
  const left = {
    ...{ room, sender, n: { $gte: n, $lte: Number.MAX_SAFE_INTEGER }, 'body.deleted': null },
    ...(taken.length > 0 && { $nor: taken }),
  }
  const [first] = await RoomEvents.find(left, { seq: 1 }).sort({ n: 1 }).limit(1).lean<{ seq: number }[]>()
  return first ? { count: await RoomEvents.countDocuments(left), from_seq: first.seq } : { count: 0, from_seq: 0 }
}

/** The ordinal behind the last purge of all messages of an account that this purger made; 1 without one. */
export async function ordinalBehindPurge(room: RoomKey, account: string, purger: string): Promise<number> {
  const [stored]: StoredPurges[] = await RoomFacts.find({ _id: `${room}|${keys.purges(account)}` }).lean()
  const purges = ((stored?.value ?? []) as PurgeFact[]).filter(({ by }) => isSameAccount(by, purger))
  if (purges.length === 0) return 1
  const last = { room, seq: Math.max(...purges.map(({ to_seq }) => to_seq)) }
  const row = await RoomEvents.findOne(last, { total: 1 }).lean<{ total: number }>()
  return (row?.total ?? 0) + 1
}

/** The removal of the files of a slice. */
export interface FileRemoval {
  /** A slice names no more files, except in a single message. */
  most: number
  /** Purged messages keep no file, although their rows still name it. */
  remove(files: readonly string[], isPurged: (row: Pick<Row, 'room' | 'sender' | 'seq'>) => boolean): Promise<void>
}
const noRemoval: FileRemoval = { most: Number.POSITIVE_INFINITY, remove: async () => undefined }

/**
 * Removes the files and then the texts of a slice of an account's purged messages, newest first. False if no text was left. The
 * progress is stored, and a repetition completes a slice.
 */
export async function removePurgedSlice(room: RoomKey, account: string, files = noRemoval): Promise<boolean> {
  const _id = `${room}|${keys.purges(account)}`
  const stored = await RoomFacts.findOne({ _id, is_open: true }).lean()
  if (!stored) return false
  const { applied_seq: seq, next_below, done_to = 0 } = stored
  const open = openAmong(stored)
  const sent = { room, sender: account, n: { $gte: 1, $lt: next_below ?? Number.MAX_SAFE_INTEGER } }
  const found = await RoomEvents.find(sent).sort({ n: -1 }).limit(rowsAtOnce).lean<PurgedRow[]>()
  const rows = withFewFiles(found, files.most)
  const taken = rows.flatMap((row) => {
    const purge = purgeOf(row, open)
    if (!purge) return []
    // A deleted one stays as it is. What belongs to it may be left from a run that was ended.
    const [after, by] = row.body.deleted ? [row.body, row.applied_seq] : [purgedBody(row.body, purge), seq]
    return { ...row, changed: { id: row._id, seq: by, body: after } }
  })
  await files.remove(
    taken.flatMap(({ body }) => body.media ?? []),
    (row) => row.room === room && isSameAccount(row.sender, account) && purgeOf(row, open) !== undefined,
  )
  await writeMessages(
    room,
    taken.map(({ changed }) => changed),
  )
  const polls = taken.flatMap(({ body: { poll_id } }) => poll_id ?? [])
  await clearPolls(room, polls, Math.min(...taken.map((row) => row.seq)), seq)
  await forgetTerms(
    room,
    taken.map(({ n }) => n),
  )
  const last = rows.at(-1)
  const isLast = rows.length === found.length && found.length < rowsAtOnce
  const isOver = isLast || !last || open.every(({ from_seq }) => from_seq >= last.seq)
  const progress = isOver
    ? {
        $set: { done_to: Math.max(done_to, ...open.map(({ to_seq }) => to_seq)) },
        $unset: { is_open: '', next_below: '' },
      }
    : { $set: { next_below: last.n } }
  // Where another purge was made meanwhile, its slices begin anew.
  await RoomFacts.updateOne({ _id, applied_seq: seq }, progress as never)
  return true
}

type PurgedRow = Pick<Row, '_id' | 'seq' | 'applied_seq'> & { n: number; body: MessageBody }

/** The first of these rows, and those behind it until they name more files. */
function withFewFiles(rows: readonly PurgedRow[], most: number): readonly PurgedRow[] {
  let files = 0
  const end = rows.findIndex(({ body }, at) => {
    files += body.media?.length ?? 0
    return at > 0 && files > most
  })
  return end === -1 ? rows : rows.slice(0, end)
}
