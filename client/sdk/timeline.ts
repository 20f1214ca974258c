import type { Snapshot } from '#shared/api/rooms/listening'
import type { Message } from '#shared/api/rooms/message'
import type { Room } from '#shared/api/rooms/room'
import type { Notice, RoomEvent, RoomEventData } from '#shared/api/rooms/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import { quoteText } from '#shared/kit/cut'
import type { RoomRef } from '#shared/kit/primitives'
import { tellPoll, withoutPolls } from './polls.ts'
import { table } from './table.ts'
import type { LocalMessage, RoomState } from './types.ts'

const asSent = (message: Message | LocalMessage): LocalMessage => ({
  reacted: [],
  ...message,
  local: 'sent',
  refusal: null,
})

/** The row as the server sent it. */
function bare(row: Message | LocalMessage): Message {
  const { local: _, refusal: __, reacted: ___, ...message } = { local: null, refusal: null, reacted: null, ...row }
  return message
}

/** Inserts a row at its place in the order. A row that is present is replaced only by a newer version. */
function createdRow(rows: readonly LocalMessage[], message: Message): readonly LocalMessage[] {
  const at = placeOf(rows, message.seq)
  const present = rows[at - 1]
  if (present?.seq !== message.seq) return rows.toSpliced(at, 0, asSent(message))
  if (!isNewer(message, present)) return rows
  return rows.with(at - 1, asSent({ ...message, reacted: message.is_deleted ? [] : present.reacted } as LocalMessage))
}

/** Replaces rows that are present by newer versions; other rows are not added. */
export function editedRow<Row extends Message>(rows: readonly Row[], message: Message): readonly Row[] {
  const at = rows.findLastIndex(({ id }) => id === message.id)
  const present = rows[at]
  if (!present || !isNewer(message, present)) return rows
  if (message.is_deleted) return rows.with(at, { ...present, ...message, ...('reacted' in present && { reacted: [] }) })
  const { reactions, is_pinned, pinned_by, pinned_at } = present
  return rows.with(at, { ...present, ...message, reactions, is_pinned, pinned_by, pinned_at })
}

/** Changes the row with an id, if it is present and not deleted. */
function patchRow<Row extends Message>(
  rows: readonly Row[],
  id: string,
  patch: (row: Row) => Partial<Row>,
): readonly Row[] {
  return patchRows(rows, (row) => row.id === id && !row.is_deleted, patch)
}

function patchRows<Row extends Message>(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
  patch: (row: Row) => Partial<Row>,
): readonly Row[] {
  return rows.some(matches) ? rows.map((row) => (matches(row) ? { ...row, ...patch(row) } : row)) : rows
}

/** The counts of a message after a reaction; of the account's own, its mark as well. */
export const reactedRow = (
  rows: readonly LocalMessage[],
  {
    id,
    emoji,
    on,
    counts,
    isOwn,
  }: { id: string; emoji: string; on: boolean; counts: Message['reactions']; isOwn: boolean },
): readonly LocalMessage[] =>
  patchRow(rows, id, ({ reacted }) => {
    const others = reacted.filter((one) => one !== emoji)
    return { reactions: counts, reacted: isOwn ? (on ? [...others, emoji] : others) : reacted }
  })

const isNewer = (message: Message, present: Message): boolean =>
  !present.is_deleted && (message.is_deleted || message.version > present.version)

/** The number of rows with a seq up to this one; most often all of them. */
function placeOf(rows: readonly LocalMessage[], seq: number): number {
  let low = 0
  let high = rows.length
  if ((rows.at(-1)?.seq ?? 0) <= seq) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}

/** `account` is the account that views the room. */
type Apply<T extends RoomEvent['type']> = (
  state: RoomState,
  data: RoomEventData<T>,
  event: RoomEvent,
  account: string | null,
) => RoomState

const noticesKept = 200

/** How each event changes the visible state of a room; null if it changes nothing. */
const appliers: { [T in RoomEvent['type']]: Apply<T> | null } = {
  'message.created': (state, { message, poll }, { seq }, account) => {
    const isNews = seq > state.headSeq && !isSameAccount(message.sender_address, account)
    const me = isNews ? { ...state.me, unread: state.me.unread + 1 } : state.me
    const messages = state.atNewest ? createdRow(state.messages, message) : state.messages
    const after = { ...state, me, messages }
    return poll ? tellPoll(after, poll, false) : after
  },
  'message.edited': (state, { message }) => withEdited(state, message),
  'message.deleted': (state, { id, deleted_by, deleted_at, reason }) =>
    withoutMessage(state, id, { deleted_by, deleted_at, delete_reason: reason }),
  'messages.purged': (state, { target, from_seq, to_seq, deleted_at, reason }, { actor }) => {
    const isGone = ({ sender_address, seq }: Message) =>
      isSameAccount(sender_address, target.id) && seq >= from_seq && seq <= to_seq
    const by = { deleted_by: actor.id, deleted_at, delete_reason: reason }
    const after = withoutRows(state, isGone, by)
    const standing = new Set(after.messages.filter((row) => !row.is_deleted).map(({ id }) => id))
    return withoutPolls(
      after,
      (poll) => isSameAccount(poll.creator_address, target.id) && !standing.has(poll.message_id),
    )
  },
  'message.pinned': (state, { id, pinned_by, pinned_at }) => {
    const pinned = { is_pinned: true, pinned_by, pinned_at }
    const messages = patchRow(state.messages, id, () => pinned)
    const row = state.messages.find((message) => message.id === id) ?? state.pins.find((pin) => pin.id === id)
    if (!row || row.is_deleted) return state
    return { ...state, messages, pins: [{ ...bare(row), ...pinned }, ...state.pins.filter((pin) => pin.id !== id)] }
  },
  'message.unpinned': (state, { id }) => ({
    ...state,
    messages: patchRow(state.messages, id, () => ({ is_pinned: false, pinned_by: null, pinned_at: null })),
    pins: state.pins.filter((pin) => pin.id !== id),
  }),
  'reaction.changed': (state, { id, emoji, on, counts }, { actor }, account) => ({
    ...state,
    messages: reactedRow(state.messages, { id, emoji, on, counts, isOwn: isSameAccount(actor.id, account) }),
    pins: patchRow(state.pins, id, () => ({ reactions: counts })),
  }),
  'rules.updated': (state, { rules: { version, updated_by: _by, updated_at: _at, ...rules } }) =>
    version <= state.rulesVersion ? state : { ...state, rules, rulesVersion: version },
  'member.joined': counted,
  'member.left': counted,
  'member.removed': counted,
  'role.changed': (state, { target, role, permissions }, _event, account) => {
    if (!isSameAccount(target.id, account)) return state
    return { ...state, me: { ...state.me, role, permissions: permissions ?? {} } }
  },
  'moderation.applied': (state, { action, target, until, members_count }, _event, account) => {
    const membersCount = members_count ?? state.membersCount
    const isMute = action === 'mute' || action === 'unmute'
    if (!isSameAccount(target.id, account) || !isMute) return { ...state, membersCount }
    const me = { ...state.me, is_muted: action === 'mute', muted_until: action === 'mute' ? until : null }
    return { ...state, membersCount, me }
  },
  'room.updated': (state, { room }) => ({
    ...state,
    room: state.room && { ...state.room, ...(room as Partial<Room>) },
  }),
  'room.topic_changed': (state, { topic }, { at }) => ({
    ...state,
    room: state.room && { ...state.room, topic, updated_at: at },
  }),
  'room.archived': (state) => ({ ...state, room: state.room && { ...state.room, is_active: false } }),
  'poll.changed': (before, { poll, message }, { actor }, account) => {
    const state = message ? withEdited(before, message) : before
    // The voter of an anonymous poll is not named. While the room is live it is taken for somebody else.
    const isUnnamed = poll.is_anonymous && state.status !== 'live'
    return tellPoll(state, poll, isUnnamed || isSameAccount(actor.id, account))
  },
  'poll.deleted': (state, { message_id }, { actor, at }) =>
    withoutMessage(state, message_id, { deleted_by: actor.id, deleted_at: at, delete_reason: null }),
  'invitation.created': null,
  'invitation.revoked': null,
  'words.updated': null,
  'epoch.started': null,
  'epoch.shared': null,
  'block.changed': null,
}

function counted(state: RoomState, { members_count }: { members_count: number }): RoomState {
  return { ...state, membersCount: members_count ?? state.membersCount }
}

/** The message as it was edited, and quotes of it. */
function withEdited(state: RoomState, message: Message): RoomState {
  const isAnswer = ({ reply_to }: Message) => reply_to?.id === message.id
  const requoted = ({ reply_to }: Message) => ({
    reply_to: reply_to && !message.is_deleted ? { ...reply_to, content: quoteText(message.content) } : null,
  })
  return {
    ...state,
    messages: patchRows(editedRow(state.messages, message), isAnswer, requoted),
    pins: patchRows(editedRow(state.pins, message), isAnswer, requoted),
  }
}

type Deletion = Pick<Message, 'deleted_by' | 'deleted_at' | 'delete_reason'>

/** Deletes a message, with the poll that it asks. */
const withoutMessage = (state: RoomState, id: string, deletion: Deletion): RoomState =>
  withoutPolls(
    withoutRows(state, (row) => row.id === id, deletion),
    ({ message_id }) => message_id === id,
  )

/** A deleted message keeps its place as a tombstone, and is removed from the pins and from quotes in replies. */
function withoutRows(state: RoomState, isGone: (row: Message) => boolean, deletion: Deletion): RoomState {
  const gone = new Set(state.messages.filter(isGone).map(({ id }) => id))
  const messages = patchRows(
    state.messages,
    (row) => gone.has(row.id) && !row.is_deleted,
    ({ version }) => ({ ...nothing, ...deletion, version: version + 1 }),
  )
  const answersGone = ({ reply_to }: Message) => reply_to !== null && gone.has(reply_to.id)
  const unquoted = () => ({ reply_to: null })
  return {
    ...state,
    messages: patchRows(messages, answersGone, unquoted),
    pins: patchRows(
      state.pins.filter((pin) => !isGone(pin)),
      answersGone,
      unquoted,
    ),
  }
}

const nothing: Partial<LocalMessage> = {
  is_deleted: true,
  content: '[Message deleted]',
  attachments: [],
  mentions: [],
  reactions: {},
  reacted: [],
  reply_to: null,
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
}

const isNotice = (event: RoomEvent): event is Notice => table.notices.includes(event.type)

/** The room after the next event of its log. Unknown types only move the seq. */
function applyEvent(state: RoomState, event: RoomEvent, account: string | null): RoomState {
  const apply = Object.hasOwn(appliers, event.type) ? (appliers[event.type] as Apply<typeof event.type> | null) : null
  const after = apply ? apply(state, event.data as never, event, account) : state
  const notices = isNotice(event) ? [...after.notices, event].slice(-noticesKept) : after.notices
  return { ...after, notices, seq: event.seq, epoch: event.epoch, headSeq: Math.max(after.headSeq, event.seq) }
}

export const applyEvents = (state: RoomState, events: readonly RoomEvent[], account: string | null): RoomState =>
  events.reduce((before, event) => applyEvent(before, event, account), state)

/** Applies the snapshot of a join, which is never older than its events. */
export const applySnapshot = (state: RoomState, snapshot: Snapshot): RoomState => ({
  ...state,
  epoch: snapshot.epoch,
  headSeq: Math.max(state.headSeq, snapshot.head_seq),
  rules: snapshot.rules,
  rulesVersion: snapshot.rules_version,
  me: snapshot.me,
  pins: snapshot.pins,
  membersCount: snapshot.members_count,
  online: snapshot.online,
})

/** Applies current rows, from the history or an answer. */
export const applyRows = (state: RoomState, rows: readonly Message[]): RoomState => ({
  ...state,
  messages: rows.reduce<readonly LocalMessage[]>(createdRow, state.messages),
})

export const emptyRoom = (ref: RoomRef): RoomState => ({
  status: 'joining',
  error: null,
  ref,
  room: null,
  epoch: null,
  seq: 0,
  headSeq: 0,
  messages: [],
  hasOlder: false,
  atNewest: true,
  pins: [],
  rules: table.defaultRules,
  rulesVersion: 0,
  me: {
    role: null,
    permissions: {},
    capabilities: {},
    next_send_at: null,
    muted_until: null,
    is_muted: false,
    read_seq: 0,
    unread: 0,
    first_unread: null,
  },
  membersCount: 0,
  online: 0,
  typing: [],
  writing: [],
  access: null,
  notices: [],
  polls: new Map(),
  direct: null,
  caughtUp: null,
})
