import { accountChanges } from '#server/domains/accounts/facts'
import { type Change, type Fact, GLOBAL, type Json, type Projection, type Row } from '#server/log/types'
import { AppError } from '#shared/errors'
import {
  type BanFact,
  emptied,
  type InvitationFact,
  isOpen,
  keys,
  type MemberFact,
  type MessageBody,
  type MessageFact,
  type ModeratorFact,
  type MuteFact,
  type PollFact,
  type PurgeFact,
  purgedBody,
  type RoomFact,
  type RulesFact,
  type WordFact,
  withoutWords,
} from './facts.ts'

/** What goes with somebody's rights; each is null where there was some. A grant may leave a limit behind. */
interface Lost {
  moderator?: ModeratorFact | null
  invitations?: null
}

/** Every type of event of a room, with what its body carries beside `actor`. */
export interface Bodies {
  'message.created': Omit<MessageBody, 'actor'>
  /** The message as it is after the edit. */
  'message.edited': { id: string; message: MessageFact }
  'message.deleted': { id: string; at: string; poll_id: string | null }
  /** Rows of before it was told have no `unpinned`. */
  'messages.purged': PurgeFact & { count: number; unpinned?: string[] }
  'message.pinned': { id: string; at: string }
  'message.unpinned': { id: string }
  'reaction.changed': {
    id: string
    emoji: string
    on: boolean
    counts: { [emoji: string]: number }
    mine: { id: string; emoji: string; at: string }[]
  }
  'poll.changed': { poll: PollFact; vote?: { account: string; options: number[]; removed: boolean } }
  'poll.deleted': { id: string; message_id: string; at: string }
  'member.joined': { member: MemberFact; member_count: number; invitation?: { id: string; uses: number } }
  'member.left': { member_count: number } & Lost
  'member.removed': { member_count: number } & Lost
  'role.changed': {
    role?: string
    member?: MemberFact
    moderator?: ModeratorFact | null
    permissions: { [name: string]: boolean } | null
    invitations?: null
  }
  'invitation.created': { invitation: InvitationFact }
  'invitation.revoked': { id: string; at: string }
  'rules.updated': { rules: RulesFact; diff: { [name: string]: Json } }
  'words.updated': { added?: WordFact; removed?: WordFact }
  'moderation.applied': {
    action: string
    ban?: BanFact
    mute?: MuteFact
    duration?: string
    member_count?: number
  } & Lost
  'room.updated': { patch: Partial<RoomFact> }
  'room.archived': Record<never, never>
  'block.changed': { blocker: string; on: boolean }
}
export type EventType = keyof Bodies

/** The body of a row of this type. A repeat whose key first made a row of another type is refused here. */
export function bodyOf<T extends EventType>(row: Row, type: T) {
  if (row.type !== type) throw new AppError('CONFLICT', { message: 'This key was used for another request' })
  return row.body as unknown as Bodies[T] & { actor: MessageBody['actor']; target_name?: string | null }
}

/** A message is written as gone, and any other fact of it forgotten, long before as many more purges of one person. */
const maxPurges = 500
/** So many invitations that are of no use any more are remembered, so that it can be said why. */
const maxDeadInvitations = 50

type Read<T extends EventType> = (row: Row, body: ReturnType<typeof bodyOf<T>>) => Change[]

const absolute = (key: string, value: unknown): Change => ({ key, value: value as Fact })
const patch = <T>(key: string, next: (before: T) => T): Change => ({
  key,
  patch: (before) => (before === null ? null : (next(before as T) as Fact)),
})
const patchList = <T>(key: string, next: (before: T[]) => T[]): Change => ({
  key,
  patch: (before) => next((before ?? []) as T[]) as Fact,
})
const patchMessage = (row: Row, id: string): Change => {
  const next = rewriteOf(row)
  return patch<MessageFact>(keys.message(id), (message) => ({ ...message, body: next?.(message.body) ?? message.body }))
}
const unpin = (ids: readonly string[]): Change =>
  patchList<string>(keys.pins, (pins) => pins.filter((pin) => !ids.includes(pin)))
/** Who is gone keeps no rights. */
const gone = (
  row: Row,
  account: string,
  { member_count, moderator, invitations }: { member_count?: number } & Lost,
) => [
  absolute(keys.member(account), null),
  ...(moderator === undefined ? [] : [absolute(keys.moderator(account), moderator)]),
  ...(invitations === undefined ? [] : [takeBack(row, account)]),
  ...memberCount(member_count),
]
const changeInvitations = (isMeant: (invitation: InvitationFact) => boolean, change: Partial<InvitationFact>): Change =>
  patchList<InvitationFact>(keys.invitations, (all) => all.map((one) => (isMeant(one) ? { ...one, ...change } : one)))
/** The invitations of who may invite no more stay taken back, also where the right is given again. */
const takeBack = ({ at }: Row, account: string): Change =>
  changeInvitations(({ invited_by, revoked_at }) => invited_by === account && revoked_at === null, {
    revoked_at: new Date(at).toISOString(),
  })
const memberCount = (member_count: number | undefined): Change[] =>
  member_count === undefined ? [] : [patch<RoomFact>(keys.room, (room) => ({ ...room, member_count }))]

const readers: { [T in EventType]: Read<T> } = {
  'message.created': ({ _id, sender, seq, at }, { mentions, flagged, text, poll }) => {
    const changes = [absolute(keys.clock(sender), { at })]
    for (const { kind, id } of mentions) if (kind === 'user') changes.push(absolute(keys.mention(id, seq), { seq }))
    if (flagged.length > 0) changes.push(absolute(keys.flag(_id), { words: flagged, content: text }))
    if (poll) changes.push(absolute(keys.poll(poll.poll_id), { ...poll, message_id: _id, message_seq: seq }))
    return changes
  },
  'message.edited': (
    row,
    {
      id,
      message: {
        body: { flagged, text },
      },
    },
  ) => [
    patchMessage(row, id),
    ...(flagged.length > 0 ? [absolute(keys.flag(id), { words: flagged, content: text })] : []),
  ],
  'message.deleted': (row, { id, poll_id }) => [
    patchMessage(row, id),
    ...(poll_id === null ? [] : [absolute(keys.poll(poll_id), null)]),
    unpin([id]),
  ],
  'messages.purged': ({ target }, { unpinned = [], from_seq, to_seq, by, at, reason }) => [
    patchList<PurgeFact>(keys.purges(target ?? ''), (purges) => [
      ...purges.slice(1 - maxPurges),
      { from_seq, to_seq, by, at, reason },
    ]),
    unpin(unpinned),
  ],
  'message.pinned': (row, { id }) => [
    patchMessage(row, id),
    patchList<string>(keys.pins, (pins) => [id, ...pins.filter((pin) => pin !== id)]),
  ],
  'message.unpinned': (row, { id }) => [patchMessage(row, id), unpin([id])],
  'reaction.changed': (row, { id, mine }) => [
    patchMessage(row, id),
    absolute(keys.reacted(id, row.sender), { emojis: mine }),
  ],
  'poll.changed': (_row, { poll, vote }) => [
    absolute(keys.poll(poll.poll_id), poll),
    ...(vote ? [absolute(keys.vote(poll.poll_id, vote.account), { options: vote.options })] : []),
  ],
  'poll.deleted': (row, { id, message_id }) => [
    absolute(keys.poll(id), null),
    patchMessage(row, message_id),
    unpin([message_id]),
  ],
  'member.joined': (_row, { member, member_count, invitation }) => [
    absolute(keys.member(member.user_address), member),
    ...memberCount(member_count),
    ...(invitation
      ? [changeInvitations(({ invitation_id }) => invitation_id === invitation.id, { uses: invitation.uses })]
      : []),
  ],
  'member.left': (row, body) => gone(row, row.sender, body),
  'member.removed': (row, body) => gone(row, row.target ?? '', body),
  'invitation.created': ({ at }, { invitation }) => [
    patchList<InvitationFact>(keys.invitations, (all) => {
      const others = all.filter(({ invitation_id }) => invitation_id !== invitation.invitation_id)
      const dead = others.filter((one) => !isOpen(one, at)).slice(-maxDeadInvitations)
      return [...dead, ...others.filter((one) => isOpen(one, at)), invitation]
    }),
  ],
  'invitation.revoked': (_row, { id, at }) => [
    changeInvitations(({ invitation_id }) => invitation_id === id, { revoked_at: at }),
  ],
  'role.changed': (row, { member, moderator, invitations }) => [
    ...(member ? [absolute(keys.member(row.target ?? ''), member)] : []),
    ...(moderator === undefined ? [] : [absolute(keys.moderator(row.target ?? ''), moderator)]),
    ...(invitations === undefined ? [] : [takeBack(row, row.target ?? '')]),
  ],
  'rules.updated': (_row, { rules }) => [absolute(keys.rules, rules)],
  'words.updated': (_row, { added, removed }) => {
    const gone = (words: WordFact[]) => words.filter(({ word_id }) => word_id !== (added ?? removed)?.word_id)
    return [
      patchList<WordFact>(keys.words, (words) => (added ? [...gone(words), added] : gone(words))),
      ...(added ? [absolute(keys.word(added.word_id), added)] : []),
      ...(removed ? [absolute(keys.word(removed.word_id), null)] : []),
    ]
  },
  'moderation.applied': (row, { action, ban, mute, ...body }) => {
    const account = row.target ?? ''
    if (action === 'ban' && ban) return [absolute(keys.ban(account), ban), ...gone(row, account, body)]
    if (action === 'unban') return [absolute(keys.ban(account), null)]
    if (action === 'mute' && mute) return [absolute(keys.mute(account), mute)]
    return action === 'unmute' ? [absolute(keys.mute(account), null)] : []
  },
  'room.updated': (_row, { patch: changes }) => [patch<RoomFact>(keys.room, (room) => ({ ...room, ...changes }))],
  'room.archived': () => [patch<RoomFact>(keys.room, (room) => ({ ...room, is_active: false }))],
  'block.changed': (_row, { blocker, on }) => [
    patchList<string>(keys.blocks, (blockers) => [
      ...blockers.filter((one) => one !== blocker),
      ...(on ? [blocker] : []),
    ]),
  ],
}

export const isEvent = (type: string): type is EventType => Object.hasOwn(readers, type)

const changesOf = <T extends EventType>(row: Row, type: T): Change[] => readers[type](row, bodyOf(row, type))

/** How an event changes the body of the message it is about. */
function rewriteOf(row: Row): ((body: MessageBody) => MessageBody) | null {
  switch (row.type) {
    case 'message.edited': {
      const { text, mentions, flagged, version, edited_at } = bodyOf(row, 'message.edited').message.body
      return (body) =>
        body.deleted ? body : { ...body, text, mentions, flagged, version, edited_at, edits: [...body.edits, row.seq] }
    }
    case 'message.deleted':
    case 'poll.deleted': {
      const { at } = bodyOf(row, row.type)
      return (body) => ({ ...emptied(body), deleted: { by: row.sender, at, reason: row.reason } })
    }
    case 'message.pinned': {
      const { at } = bodyOf(row, 'message.pinned')
      return (body) => ({ ...body, pinned: { by: row.sender, at } })
    }
    case 'message.unpinned':
      return (body) => ({ ...body, pinned: null })
    case 'reaction.changed': {
      const { counts } = bodyOf(row, 'reaction.changed')
      return (body) => ({ ...body, reactions: counts })
    }
    default:
      return null
  }
}

/** Whether this row is the message an event is about, or an edit or poll whose text goes with it. */
function rewriteRow(event: Row): ((row: Row) => Row) | null {
  const purge = event.type === 'messages.purged' ? bodyOf(event, 'messages.purged') : null
  const next = rewriteOf(event)
  if (!purge && !next) return null
  const about = purge ? null : String(event.body.id ?? '')
  const id = event.type === 'poll.deleted' ? String(event.body.message_id) : about
  const redacts = purge !== null || event.type === 'message.deleted' || event.type === 'poll.deleted'
  const isTaken = ({ message_id, message_seq, creator_address }: PollFact) =>
    purge
      ? creator_address === event.target && message_seq >= purge.from_seq && message_seq <= purge.to_seq
      : message_id === id
  return (row) => {
    if (row.type === 'message.created') {
      const body = row.body as unknown as MessageBody
      const hit = purge
        ? row.sender === event.target && row.seq >= purge.from_seq && row.seq <= purge.to_seq && !body.deleted
        : row._id === id
      if (!hit) return row
      return { ...row, body: (purge ? purgedBody(body, purge) : (next?.(body) ?? body)) as unknown as Row['body'] }
    }
    if (row.type === 'poll.changed' && redacts && isTaken(bodyOf(row, 'poll.changed').poll)) return withoutPoll(row)
    const isItsEdit =
      row.type === 'message.edited' && redacts && (purge ? row.sender === event.target : row.body.id === id)
    return isItsEdit ? withoutText(row) : row
  }
}

function withoutText(edit: Row): Row {
  const { message, ...rest } = bodyOf(edit, 'message.edited')
  const body = { ...rest, message: { ...message, body: { ...message.body, text: '', mentions: [] } } }
  return { ...edit, body: body as unknown as Row['body'] }
}

function withoutPoll(change: Row): Row {
  const body = bodyOf(change, 'poll.changed')
  return { ...change, body: { ...body, poll: withoutWords(body.poll) } as unknown as Row['body'] }
}

const chained = new Set<string>([
  'message.deleted',
  'messages.purged',
  'message.pinned',
  'message.unpinned',
  'member.removed',
  'role.changed',
  'invitation.created',
  'invitation.revoked',
  'rules.updated',
  'words.updated',
  'moderation.applied',
  'room.archived',
  'account.suspended',
  'account.unsuspended',
  'account.role_changed',
])
const everywhere = new Set<string>([
  'moderation.applied',
  'member.removed',
  'member.left',
  'role.changed',
  'rules.updated',
  'words.updated',
  'room.archived',
  'block.changed',
  'account.suspended',
  'account.unsuspended',
  'account.role_changed',
  'sessions.ended',
])

/** What follows from the log of a room. */
export const projection: Projection = {
  always: (room) =>
    room === GLOBAL
      ? [keys.words]
      : room.startsWith('dm:')
        ? [keys.room, keys.blocks]
        : [keys.room, keys.rules, keys.words, keys.pins],
  changes: (row) => (isEvent(row.type) ? changesOf(row, row.type) : accountChanges(row)),
  isRecordOf: ({ type, _id }) => (type === 'message.created' ? keys.message(_id) : null),
  isMessage: (type) => type === 'message.created',
  isChained: (type) => chained.has(type),
  holdsEverywhere: (type) => everywhere.has(type),
  rewrites: rewriteRow,
}
