import { z } from 'zod'
import { moderation } from '#shared/api/moderation/moderation'
import { Ban, ModerationMute } from '#shared/api/moderation/moderation-records'
import { Rules } from '#shared/api/moderation/verdict'
import { Message } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import { Poll, polls } from '#shared/api/rooms/polls'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import type { Person } from './people.ts'

/** Everything a member sees of a room, by topic. */
export interface RoomState {
  name: string
  messages: Map<string, Message>
  /** Newest first. */
  pins: string[]
  polls: Map<string, Omit<Poll, 'user_votes'>>
  members: Map<string, string>
  count: number
  bans: Map<string, string | null>
  mutes: Map<string, string | null>
  rules: Rules
}

/** The current state by the operations. */
export async function fetchState(by: Person, room: RoomRef & { id: string }): Promise<RoomState> {
  const chat = { chatType: 'channel', chatId: room.id } as const
  const [{ room: row }, history, pins, polled, listed, { bans }, { mutedUsers }, { rules }] = await Promise.all([
    by.does('rest', rooms.get, { room }),
    by.does('rest', messages.history, { room, limit: 100 }),
    by.does('rest', messages.pins, { room }),
    by.does('rest', polls.list, { room }),
    by.does('rest', rooms.members, { room }),
    by.does('rest', moderation.bans, chat).then((answer) => told({ bans: z.array(Ban) }).parse(answer)),
    by
      .does('rest', moderation.inspect, { action: 'muted', channelId: room.id })
      .then((answer) => told({ mutedUsers: z.array(ModerationMute) }).parse(answer)),
    by.does('rest', moderation.rules, chat),
  ])
  if (history.has_more) throw new Error('More messages than one page holds.')
  return {
    name: row.name,
    messages: new Map(history.messages.map((message) => [message.id, message])),
    pins: pins.pinnedMessages.map((message) => message.id),
    polls: new Map(polled.polls.map((poll) => [poll.id, common(poll)])),
    members: new Map(listed.members.map(({ user_address, role }) => [user_address, role])),
    count: row.member_count,
    bans: new Map(bans.map(({ user_address, banned_until }) => [user_address, banned_until])),
    mutes: new Map(mutedUsers.map(({ user_address, muted_until }) => [user_address, muted_until])),
    rules: Rules.parse(rules),
  }
}

/** The fields of a poll that are the same for everybody. */
function common({ user_votes: _, ...poll }: Poll): Omit<Poll, 'user_votes'> {
  return { ...poll, votes: poll.votes.map((vote) => ({ ...vote, voters: [] })) }
}

const Somebodys = z.object({ id: z.string() })
const told = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape)
const counted = { members_count: z.number().int().optional() }
const Told = {
  message: told({ message: Message, poll: Poll.optional() }),
  deleted: told({ id: z.string(), deleted_by: z.string(), deleted_at: z.string(), reason: z.string().nullable() }),
  purged: told({
    target: Somebodys,
    from_seq: z.number(),
    to_seq: z.number(),
    deleted_at: z.string(),
    reason: z.string().nullable(),
  }),
  pinned: told({ id: z.string(), pinned_by: z.string(), pinned_at: z.string() }),
  about: told({ id: z.string() }),
  reactions: told({ id: z.string(), counts: z.record(z.string(), z.number().int()) }),
  poll: told({ poll: Poll, message: Message.optional() }),
  pollDeleted: told({ id: z.string(), message_id: z.string() }),
  member: told({ member: z.object({ id: z.string(), role: z.string().optional() }), ...counted }),
  role: told({ target: Somebodys, role: z.string() }),
  rules: told({ rules: Rules }),
  moderation: told({ action: z.string(), target: Somebodys, until: z.string().nullable(), ...counted }),
  room: told({ room: z.object({ name: z.string().optional() }) }),
}

// Catch-up contains current rows: a deleted message has no earlier text.
/** Applies an event as a client that knows only the contract; unknown types change nothing. */
export function applyEvent(state: RoomState, event: RoomEvent): void {
  changes[event.type]?.(state, event.data, event)
}

type Change = (state: RoomState, data: RoomEvent['data'], event: RoomEvent) => void

const changes: Record<string, Change> = {
  'message.created'(state, data) {
    const { message, poll } = Told.message.parse(data)
    state.messages.set(message.id, message)
    if (poll) state.polls.set(poll.id, common(poll))
  },
  'message.edited'(state, data) {
    edit(state, Told.message.parse(data).message)
  },
  'message.deleted'(state, data) {
    const { id, deleted_by, deleted_at, reason } = Told.deleted.parse(data)
    takeBack(state, id, { deleted_by, deleted_at, delete_reason: reason })
  },
  'messages.purged'(state, data, { actor }) {
    const { target, from_seq, to_seq, deleted_at, reason } = Told.purged.parse(data)
    for (const { id, sender_address, seq } of state.messages.values()) {
      if (sender_address !== target.id || seq < from_seq || seq > to_seq) continue
      takeBack(state, id, { deleted_by: actor.id, deleted_at, delete_reason: reason })
    }
  },
  'message.pinned'(state, data) {
    const { id, pinned_by, pinned_at } = Told.pinned.parse(data)
    if (state.messages.get(id)?.is_deleted) return
    change(state, id, { is_pinned: true, pinned_by, pinned_at })
    state.pins = [id, ...state.pins.filter((pin) => pin !== id)]
  },
  'message.unpinned'(state, data) {
    const { id } = Told.about.parse(data)
    change(state, id, { is_pinned: false, pinned_by: null, pinned_at: null })
    state.pins = state.pins.filter((pin) => pin !== id)
  },
  'reaction.changed'(state, data) {
    const { id, counts } = Told.reactions.parse(data)
    change(state, id, { reactions: counts })
  },
  'poll.changed'(state, data) {
    const { poll, message } = Told.poll.parse(data)
    state.polls.set(poll.id, common(poll))
    if (message) edit(state, message)
  },
  'poll.deleted'(state, data, { actor, at }) {
    const { message_id } = Told.pollDeleted.parse(data)
    takeBack(state, message_id, { deleted_by: actor.id, deleted_at: at, delete_reason: null })
  },
  'member.joined'(state, data) {
    const { member, members_count } = Told.member.parse(data)
    state.members.set(member.id, member.role ?? 'member')
    state.count = members_count ?? state.count
  },
  'member.left': gone,
  'member.removed': gone,
  'role.changed'(state, data) {
    const { target, role } = Told.role.parse(data)
    if (state.members.has(target.id)) state.members.set(target.id, role)
  },
  'rules.updated'(state, data) {
    state.rules = Told.rules.parse(data).rules
  },
  'moderation.applied'(state, data) {
    const { action, target, until, members_count } = Told.moderation.parse(data)
    if (action === 'ban') {
      state.bans.set(target.id, until)
      state.members.delete(target.id)
    }
    if (action === 'unban') state.bans.delete(target.id)
    if (action === 'mute') state.mutes.set(target.id, until)
    if (action === 'unmute') state.mutes.delete(target.id)
    state.count = members_count ?? state.count
  },
  'room.updated'(state, data) {
    state.name = Told.room.parse(data).room.name ?? state.name
  },
}

function gone(state: RoomState, data: RoomEvent['data']): void {
  const { member, members_count } = Told.member.parse(data)
  state.members.delete(member.id)
  state.count = members_count ?? state.count
}

function change({ messages }: RoomState, id: string, fields: Partial<Message>): void {
  const message = messages.get(id)
  if (message && !message.is_deleted) messages.set(id, { ...message, ...fields })
}

/** Replies to it quote what it says now. */
function edit({ messages }: RoomState, message: Message): void {
  messages.set(message.id, message)
  for (const [id, { reply_to, ...answer }] of messages)
    if (reply_to?.id === message.id)
      messages.set(id, { ...answer, reply_to: { ...reply_to, content: message.content.slice(0, 200) } })
}

function takeBack(
  state: RoomState,
  id: string,
  how: Pick<Message, 'deleted_by' | 'deleted_at' | 'delete_reason'>,
): void {
  const message = state.messages.get(id)
  if (message) change(state, id, { ...emptied(message), ...how })
  state.pins = state.pins.filter((pin) => pin !== id)
  for (const poll of state.polls.values()) if (poll.message_id === id) state.polls.delete(poll.id)
}

const emptied = ({ version }: Message): Partial<Message> => ({
  version: version + 1,
  is_deleted: true,
  content: '[Message deleted]',
  attachments: [],
  mentions: [],
  reply_to: null,
  reply_to_id: null,
  reactions: {},
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
})
