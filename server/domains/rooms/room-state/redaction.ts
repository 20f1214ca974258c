import { bodyOf, isRowOf } from '#server/domains/rooms/events/define'
import { RoomEvents } from '#server/log/model'
import { rewriteRow, rowById } from '#server/log/store'
import type { RoomKey, Row } from '#server/log/types'
import { messagesPurged } from './events/messages.ts'
import { pollChanged } from './events/polls.ts'
import { type MessageBody, type PurgeFact, purgedBody } from './facts.ts'
import { forgetTerms } from './search-index.ts'

/** Writes a message's present state into its row, and removes the texts of its edits. */
export async function writeMessage(room: RoomKey, id: string, body: MessageBody, seq: number): Promise<void> {
  if (body.deleted) await clearEdits(room, body.edits)
  await rewriteRow(room, id, body as unknown as Row['body'], seq)
}

/** Rewrites every purged message. The message row is last, because a retry finds unfinished work by it. */
export async function purgeMessages(
  room: RoomKey,
  sender: string,
  purge: PurgeFact,
  { seq, clearPoll }: { seq: number; clearPoll: (id: string) => Promise<void> },
): Promise<void> {
  const sent = await sentBy(room, sender, purge)
  for (const { _id, body } of sent.filter(isNotDeleted)) {
    if (body.poll_id !== null) await clearPoll(body.poll_id)
    await writeMessage(room, _id, purgedBody(body, purge), seq)
  }
  await forgetTerms(
    room,
    sent.map(({ n }) => n),
  )
}

type StoredMessage<Body = MessageBody> = { _id: string; seq: number; n: number; at: number; body: Body }
type Range = { from_seq: number; to_seq: number }
type Bare = Pick<MessageBody, 'deleted' | 'media'>

const isNotDeleted = ({ body }: StoredMessage<Bare>) => !body.deleted

/** An account's messages up to a `seq` that are not deleted: their places and files. */
export const messagesOfSender = async (
  room: RoomKey,
  sender: string,
  to_seq: number,
): Promise<StoredMessage<Bare>[]> => {
  const fields = { 'body.deleted': 1, 'body.media': 1 } as const
  return (await sentBy<Bare>(room, sender, { from_seq: 1, to_seq }, fields)).filter(isNotDeleted)
}

async function sentBy<Body = MessageBody>(
  room: RoomKey,
  sender: string,
  { from_seq, to_seq }: Range,
  fields: { [field: string]: 1 } = { body: 1 },
): Promise<StoredMessage<Body>[]> {
  const all = { room, sender, n: { $gte: 1, $lte: Number.MAX_SAFE_INTEGER } }
  const rows = await RoomEvents.find(all, { seq: 1, n: 1, at: 1, ...fields }).lean<StoredMessage<Body>[]>()
  return rows.filter(({ seq }) => seq >= from_seq && seq <= to_seq)
}

async function clearEdits(room: RoomKey, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return
  await RoomEvents.updateMany(
    { room, seq: { $in: [...seqs] } },
    { $set: { 'body.message.body.text': '', 'body.message.body.mentions': [] } },
  )
}

/** Removes a poll's texts from all rows up to the event that deleted it. */
export async function clearPollChanges(room: RoomKey, pollId: string, event: Row): Promise<void> {
  const range = { $gt: await startOf(room, event), $lte: event.seq }
  await RoomEvents.updateMany(
    { room, seq: range, type: pollChanged.type, 'body.poll.poll_id': pollId },
    { $set: { 'body.poll.question': '', 'body.poll.options': [] } },
  )
}

/** A `seq` before every row that an event rewrites. */
async function startOf(room: RoomKey, event: Row): Promise<number> {
  if (isRowOf(event, messagesPurged)) return bodyOf(event, messagesPurged).from_seq - 1
  const message = await rowById(room, String(event.body.message_id ?? event.body.id))
  return message?.seq ?? 0
}
