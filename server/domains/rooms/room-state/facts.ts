import type { MessageBody, MessageFact, PollFact } from '#server/domains/rooms/events/message'
import { type Fact, GLOBAL, type Row, type View } from '#server/log/types'
import { defaultRules, type Rules } from '#shared/api/moderation/verdict'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { filesAllowedIn, isForModerators, longestIn, type RoomType, sealedBy } from '#shared/kit/room-kinds'
import type {
  BanFact,
  CurrentEpochFact,
  EpochFact,
  InvitationFact,
  MemberFact,
  ModeratorFact,
  MuteFact,
  RoomFact,
  RulesFact,
  WordFact,
} from './fact-schemas.ts'

export * from '#server/domains/rooms/events/message'
export * from './fact-schemas.ts'

export type PurgeFact = { to_seq: number; from_seq: number; by: string; at: string; reason: string | null }
export type ReactedFact = { emojis: { id: string; emoji: string; at: string }[] }
type ClockFact = { at: number }
type VoteFact = { options: number[] }

export const messageFactOf = ({ _id, cid, sender, seq, n, at, body }: Row): MessageFact => ({
  id: _id,
  cid,
  sender,
  seq,
  n: n ?? 0,
  at,
  body: body as unknown as MessageBody,
})

export const keys = {
  room: 'room',
  rules: 'rules',
  words: 'words',
  pins: 'pins',
  blocks: 'blocks',
  invitations: 'invitations',
  conversation: 'conversation',
  currentEpoch: 'current_epoch',
  member: (account: string) => `member:${account}`,
  ban: (account: string) => `ban:${account}`,
  mute: (account: string) => `mute:${account}`,
  moderator: (account: string) => `moderator:${account}`,
  purges: (account: string) => `purges:${account}`,
  clock: (account: string) => `clock:${account}`,
  message: (id: string) => `message:${id}`,
  reacted: (id: string, account: string) => `reacted:${id}:${account}`,
  poll: (id: string) => `poll:${id}`,
  vote: (poll: string, account: string) => `vote:${poll}:${account}`,
  word: (id: string) => `word:${id}`,
  mention: (account: string, seq: number) => `mention:${account}:${seq}`,
  flag: (id: string) => `flag:${id}`,
  epoch: (id: string) => `epoch:${id}`,
  question: (id: string) => `question:${id}`,
}

// Only the projection writes these keys, so each key has one type.
const get = <T extends Fact>(view: View, key: string): T | null => view.get(key) as T | null

export const roomIn = (view: View) => get<RoomFact>(view, keys.room)

/** The effective rules: those that were set, or the defaults, within the limits of the kind of room. */
export function rulesIn(view: View): RulesFact {
  const set = get<RulesFact>(view, keys.rules)
  const rules = set ?? noRules
  const { type } = roomRefOf(view)
  const files_allowed = filesAllowedOf(set ?? {}, type)
  const read_only = rules.read_only || isForModerators(type)
  const max_message_length = longestIn(type, rules.max_message_length)
  const isAsSet = read_only === rules.read_only && max_message_length === rules.max_message_length
  return isAsSet && files_allowed === rules.files_allowed
    ? rules
    : { ...rules, read_only, max_message_length, files_allowed }
}

/** Rules of older versions do not set it. */
export const filesAllowedOf = (rules: Partial<Rules>, type: RoomType): Rules['files_allowed'] =>
  rules.files_allowed ?? filesAllowedIn(type)

export const wordsIn = (view: View): readonly WordFact[] => get<WordFact[]>(view, keys.words) ?? noWords
export const pinsIn = (view: View): readonly string[] => get<string[]>(view, keys.pins) ?? []
export const blocksIn = (view: View): readonly string[] => get<string[]>(view, keys.blocks) ?? []
export const invitationsIn = (view: View): readonly InvitationFact[] =>
  get<InvitationFact[]>(view, keys.invitations) ?? noInvitations
export const memberIn = (view: View, account: string) => get<MemberFact>(view, keys.member(account))
/** The last grant here, valid or not. */
export const grantIn = (view: View, account: string) => get<ModeratorFact>(view, keys.moderator(account))
export const clockIn = (view: View, account: string) => get<ClockFact>(view, keys.clock(account))

/**
 * The account's last message here, on a clock that shows `now`; null if there is none. A clock that did not advance
 * delays nobody.
 */
export const lastMessageIn = (view: View, account: string, now: number): number | null => {
  const clock = clockIn(view, account)
  return clock && Math.min(clock.at, now - view.ageOf(keys.clock(account)))
}
export const reactedIn = (view: View, id: string, account: string) => get<ReactedFact>(view, keys.reacted(id, account))
export const pollIn = (view: View, id: string) => get<PollFact>(view, keys.poll(id))
export const epochIn = (view: View, id: string) => get<EpochFact>(view, keys.epoch(id))
/** The epoch for new messages; null before the first. */
export const currentEpochIn = (view: View) => get<CurrentEpochFact>(view, keys.currentEpoch)
export const voteIn = (view: View, poll: string, account: string) => get<VoteFact>(view, keys.vote(poll, account))

/**
 * The valid grant. Older versions kept grants of former members. Such a grant counts only if its holder joined before
 * it.
 */
export const moderatorIn = (view: View, account: string): ModeratorFact | null => {
  const grant = grantIn(view, account)
  if (grant === null || typeof grant.granted_seq === 'number' || view.room === GLOBAL) return grant
  const member = memberIn(view, account)
  return member !== null && member.joined_at < grant.granted_at ? grant : null
}

/** Is a term with this end still running? */
export const isTermRunning = (until: string | null, now: number): boolean => until === null || Date.parse(until) > now

/**
 * Does a term of this view apply now? It ends by the log's clock. If that clock does not advance after a step, it ends
 * after its own length.
 */
const isTermInForce = (view: View, key: string, from: string, until: string | null, now: number): boolean =>
  isTermRunning(until, now) && (until === null || view.ageOf(key) < Date.parse(until) - Date.parse(from))

/** Is the invitation neither revoked, expired nor used up at that time? */
export const isInvitationOpen = ({ revoked_at, expires_at, uses, max_uses }: InvitationFact, at: number): boolean =>
  revoked_at === null && uses < max_uses && Date.parse(expires_at) > at

/** The current ban; null for an expired one. */
export const banIn = (view: View, account: string, now: number): BanFact | null => {
  const key = keys.ban(account)
  const ban = get<BanFact>(view, key)
  return ban && isTermInForce(view, key, ban.banned_at, ban.banned_until, now) ? ban : null
}
export const muteIn = (view: View, account: string, now: number): MuteFact | null => {
  const key = keys.mute(account)
  const mute = get<MuteFact>(view, key)
  return mute && isTermInForce(view, key, mute.muted_at, mute.muted_until, now) ? mute : null
}

/** The message in its present state; null if absent. A purged one is emptied. */
export const messageIn = (view: View, id: string): MessageFact | null => {
  const message = get<MessageFact>(view, keys.message(id))
  if (!message) return null
  const purges = message.body.deleted ? null : get<PurgeFact[]>(view, keys.purges(message.sender))
  const purge = purges && purgeOf(message, purges)
  return purge ? { ...message, body: purgedBody(message.body, purge) } : message
}

/** The purge that takes a message of its account; undefined if none does. */
export const purgeOf = <Purge extends Pick<PurgeFact, 'from_seq' | 'to_seq'>>(
  { seq }: { seq: number },
  purges: readonly Purge[],
): Purge | undefined => purges.find(({ from_seq, to_seq }) => seq >= from_seq && seq <= to_seq)

export const purgedBody = (body: MessageBody, { by, at, reason }: PurgeFact): MessageBody => ({
  ...emptiedBody(body),
  deleted: { by, at, reason },
})

export const emptiedBody = ({ media: _, ...body }: MessageBody): MessageBody => ({
  ...body,
  text: '',
  attachments: [],
  mentions: [],
  reply_to: null,
  pinned: null,
  reactions: {},
  version: body.version + 1,
  ...(body.poll ? { poll: emptiedPoll(body.poll) } : {}),
})

/** The rest of a poll whose message was deleted. */
export const emptiedPoll = (poll: PollFact): PollFact => ({ ...poll, question: '', options: [] })

export const roomRefOf = (view: View): RoomRef => roomOfKey(view.room)
export const sealingOf = (view: View) => sealedBy({ ...roomRefOf(view), messaging_type: roomIn(view)?.messaging_type })

const noWords: readonly WordFact[] = []
const noInvitations: readonly InvitationFact[] = []
const noRules: RulesFact = { ...defaultRules, rules_id: '', version: 0, updated_by: null, updated_at: null }
