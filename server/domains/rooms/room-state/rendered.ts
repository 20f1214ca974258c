import type { Row } from '#server/log/types'
import type { Message } from '#shared/api/rooms/message'
import type { Poll } from '#shared/api/rooms/polls'
import type { Person } from '#shared/api/rooms/room'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { countsBySign } from '#shared/kit/reaction-sign'
import { isAgent } from '#shared/kit/room-agents'
import { idIn } from '#shared/kit/room-key'
import { type MessageFact, messageFactOf, type PollFact } from './facts.ts'

const iso = (at: number) => new Date(at).toISOString()

export const personOf = (id: string, { name, role }: { name: string; role: string | null }): Person => ({
  id,
  name,
  role,
  isAgent: isAgent(id),
})

/** A message as every door and event shows it. */
export function messageOf(room: RoomRef, { id, cid, sender, seq, n, at, body }: MessageFact): Message {
  const { deleted, pinned, reply_to } = body
  return {
    id,
    room,
    channel_id: idIn('channel_id', room),
    seq,
    n,
    version: body.version,
    client_msg_id: cid,
    sender_address: sender,
    sender: personOf(sender, body.actor),
    content: deleted ? '[Message deleted]' : body.text,
    message_type: body.type as Message['message_type'],
    attachments: body.attachments,
    mentions: body.mentions as Message['mentions'],
    created_at: iso(at),
    reply_to_id: reply_to?.id ?? null,
    reply_to: reply_to as Message['reply_to'],
    reactions: countsBySign(body.reactions),
    poll_id: body.poll_id,
    is_pinned: pinned !== null,
    pinned_by: pinned?.by ?? null,
    pinned_at: pinned?.at ?? null,
    is_edited: body.edited_at !== null,
    edited_at: body.edited_at,
    is_deleted: deleted !== null,
    deleted_by: deleted?.by ?? null,
    deleted_at: deleted?.at ?? null,
    delete_reason: deleted?.reason ?? null,
  }
}

const renderedMessages = new WeakMap<Row, Message>()

/** Rendered once for a row, for its sender and all receivers. */
export function messageOfRow(row: Row): Message {
  const known = renderedMessages.get(row)
  if (known) return known
  const message = messageOf(roomOfKey(row.room), messageFactOf(row))
  renderedMessages.set(row, message)
  return message
}

/** The public poll; callers may add voters. */
export const pollOf = (
  room: RoomRef,
  poll: PollFact,
  {
    voters = [],
    mine = [],
  }: { voters?: readonly { account: string; options: readonly number[] }[]; mine?: readonly number[] } = {},
): Poll => ({
  id: poll.poll_id,
  message_id: poll.message_id,
  channel_id: idIn('channel_id', room),
  group_id: idIn('group_id', room),
  creator_address: poll.creator_address,
  question: poll.question,
  options: poll.options,
  options_detail: poll.options.map((text, id) => ({ id, text, vote_count: poll.counts[id] ?? 0 })),
  allows_multiple: poll.allows_multiple,
  ends_at: poll.ends_at,
  is_anonymous: poll.is_anonymous,
  is_closed: poll.is_closed,
  is_active: !poll.is_closed && (poll.ends_at === null || Date.parse(poll.ends_at) > Date.now()),
  created_at: poll.created_at,
  version: poll.version,
  votes: poll.options.map((_, index) => ({
    option_index: index,
    count: poll.counts[index] ?? 0,
    voters: poll.is_anonymous
      ? []
      : voters.filter(({ options }) => options.includes(index)).map(({ account }) => account),
  })),
  user_votes: [...mine],
  total_votes: poll.counts.reduce((sum, votes) => sum + votes, 0),
})
