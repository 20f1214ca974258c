import { type MessageBody, type MessageFact, messageFactOf, type PollFact } from '#server/domains/rooms/facts'
import { bodyOf, isEvent } from '#server/domains/rooms/projection'
import { type Row, UNREADABLE } from '#server/log/types'
import type { Message, RoomEvent } from '#shared/api/messages'
import type { Poll } from '#shared/api/polls'
import type { Person } from '#shared/api/rooms'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'

const iso = (at: number) => new Date(at).toISOString()

export const person = (id: string, { name, role }: { name: string; role: string | null }): Person => ({
  id,
  name,
  role,
  isAgent: id.startsWith('agent:'),
})

/** A message as every door and every event shows it. */
export function messageOf(room: RoomRef, { id, cid, sender, seq, n, at, body }: MessageFact): Message {
  const { deleted, pinned, reply_to } = body
  return {
    id,
    room,
    channel_id: room.type === 'channel' ? room.id : null,
    seq,
    n,
    version: body.version,
    client_msg_id: cid,
    sender_address: sender,
    sender: person(sender, body.actor),
    content: deleted ? '[Message deleted]' : body.text,
    message_type: body.type as Message['message_type'],
    attachments: body.attachments,
    mentions: body.mentions as Message['mentions'],
    created_at: iso(at),
    reply_to_id: reply_to?.id ?? null,
    reply_to: reply_to as Message['reply_to'],
    reactions: body.reactions,
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

const shown = new WeakMap<Row, Message>()

/** Made once for a row, which is told to its sender and to everybody. */
export function messageOfRow(row: Row): Message {
  const known = shown.get(row)
  if (known) return known
  const message = messageOf(roomOfKey(row.room), messageFactOf(row))
  shown.set(row, message)
  return message
}

/** The poll as everybody sees it; whose votes are whose is added where somebody asks. */
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
  channel_id: room.type === 'channel' ? room.id : null,
  group_id: room.type === 'group' ? room.id : null,
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

type Data = RoomEvent['data']

/** The public part of an event. */
function dataOf(row: Row, room: RoomRef): Data {
  const target = { id: row.target ?? '', name: String(row.body.target_name ?? row.target ?? '') }
  switch (row.type) {
    case 'message.created': {
      const { poll, deleted } = bodyOf(row, 'message.created')
      return {
        message: messageOfRow(row),
        ...(poll && !deleted ? { poll: pollOf(room, { ...poll, message_id: row._id }) } : {}),
      }
    }
    case 'message.edited':
      return { message: messageOf(room, bodyOf(row, 'message.edited').message) }
    case 'message.deleted': {
      const { id, at } = bodyOf(row, 'message.deleted')
      return { id, deleted_by: row.sender, deleted_at: at, reason: row.reason }
    }
    case 'messages.purged': {
      const { from_seq, to_seq, count, at } = bodyOf(row, 'messages.purged')
      return { target, from_seq, to_seq, count, deleted_at: at, reason: row.reason }
    }
    case 'message.pinned': {
      const { id, at } = bodyOf(row, 'message.pinned')
      return { id, pinned_by: row.sender, pinned_at: at }
    }
    case 'message.unpinned':
      return { id: bodyOf(row, 'message.unpinned').id }
    case 'reaction.changed': {
      const { id, emoji, on, counts } = bodyOf(row, 'reaction.changed')
      return { id, emoji, on, counts }
    }
    case 'poll.changed':
      return { poll: pollOf(room, bodyOf(row, 'poll.changed').poll) }
    case 'poll.deleted': {
      const { id, message_id } = bodyOf(row, 'poll.deleted')
      return { id, message_id }
    }
    case 'member.joined': {
      const { member, member_count } = bodyOf(row, 'member.joined')
      return { member: { ...target, role: member.role }, members_count: member_count }
    }
    case 'member.left':
      return {
        member: { id: row.sender, name: bodyOf(row, 'member.left').actor.name },
        members_count: bodyOf(row, 'member.left').member_count,
      }
    case 'member.removed':
      return { member: target, reason: row.reason, members_count: bodyOf(row, 'member.removed').member_count }
    case 'role.changed': {
      const { role, moderator, permissions } = bodyOf(row, 'role.changed')
      return { target, role: role ?? (moderator ? 'moderator' : 'member'), permissions }
    }
    case 'rules.updated': {
      const { rules, diff } = bodyOf(row, 'rules.updated')
      const { rules_id: _, ...shown } = rules
      return { version: rules.version, diff, rules: shown }
    }
    case 'moderation.applied': {
      const { action, member_count } = bodyOf(row, 'moderation.applied')
      const counted = member_count === undefined ? {} : { members_count: member_count }
      return { action, target, until: row.until === null ? null : iso(row.until), reason: row.reason, ...counted }
    }
    case 'room.updated':
      return { room: bodyOf(row, 'room.updated').patch }
    default:
      return {}
  }
}

const unsigned = new Set(['block.changed', 'words.updated', 'invitation.created', 'invitation.revoked'])
export const nobody: Person = { id: '', name: '', role: null, isAgent: false }

/** Events that only move the log on, secret votes, and what we do not know: who did what is nobody's business. */
function isUnsigned(row: Row): boolean {
  if (!isEvent(row.type)) return true
  if (row.type !== 'poll.changed') return unsigned.has(row.type)
  const { poll, vote } = bodyOf(row, 'poll.changed')
  return poll.is_anonymous && vote !== undefined
}

/** What cannot be shown is an event of no known type, which has its place in the order like any other. */
export function eventOf(row: Row): RoomEvent {
  const { epoch, seq, at, type, sender, body } = row
  const room = roomOfKey(row.room)
  const placed = { room, epoch, seq, at: iso(at) }
  try {
    const actor = isUnsigned(row) ? nobody : person(sender, body.actor as MessageBody['actor'])
    return { ...placed, type, actor, data: dataOf(row, room) }
  } catch {
    return { ...placed, type: isEvent(type) ? UNREADABLE : type, actor: nobody, data: {} }
  }
}
