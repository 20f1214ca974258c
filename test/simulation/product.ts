import { suspensionIn, suspensionKey } from '#server/domains/people/accounts/facts'
import {
  banIn,
  clockIn,
  keys,
  type MemberFact,
  type MessageBody,
  type MessageFact,
  memberIn,
  messageIn,
  type RoomFact,
  roomFactOf,
  roomIn,
  rulesIn,
} from '#server/domains/rooms/room-state/facts'
import { type Act, type Entry, type Fact, type Judgement, ROW_VERSION, type Row, type View } from '#server/log/types'
import { AppError } from '#shared/errors'
import { makes } from '#test/log/chat'
import { plainMessage } from '#test/support/plain-message'
import type { Deed } from './history.ts'

// The acts of people as rows of the product, with its own projection and records.

const types = {
  message: 'message.created',
  edit: 'message.edited',
  join: 'member.joined',
  leave: 'member.left',
  ban: 'moderation.applied',
  unban: 'moderation.applied',
  suspend: 'account.suspended',
  unsuspend: 'account.unsuspended',
  slow: 'rules.updated',
} as const
export type Kind = keyof typeof types

/** The act of a row; null for a row of another version. */
export function kindOf({ type, body, v }: Row): Kind | null {
  if (v > ROW_VERSION) return null
  const kinds = Object.keys(types) as Kind[]
  return kinds.find((kind) => types[kind] === type && (body.action === undefined || body.action === kind)) ?? null
}

export const removedBy = (row: Row): string | null => {
  const kind = kindOf(row)
  if (kind === 'ban') return row.target
  return kind === 'leave' ? row.sender : null
}

export { keys, suspensionKey }
export const versionOf = (message: Fact): number => (message as MessageFact | null)?.body.version ?? 0
export const slowOf = (rules: Fact): number => (rules as { slow_mode_seconds: number } | null)?.slow_mode_seconds ?? 0
export const sentAt = (clock: Fact): number | null => (clock as { at: number } | null)?.at ?? null
export const joinedAt = (member: Fact): number => (member as MemberFact | null)?.joined_seq ?? 0
/** The version that an edit creates. */
export const editedTo = ({ body }: Row): number => (body as unknown as { message: MessageFact }).message.body.version

const actor = { name: 'somebody', role: null }
const iso = (at: number): string => new Date(at).toISOString()

const messageBody = (text: string): MessageBody => ({ actor, ...plainMessage(text) })

/** The facts of the room at the moment of an act. */
interface Known {
  seq: number
  now: number
  members: number
  isMember: boolean
  message: MessageFact | null
}

/** The entry that the product appends for an act. */
export function entryOf(
  { type, sender, cid, target = '', version = 1, milliseconds = 0, text }: Deed,
  known: Known,
): Entry {
  const { seq, now, members, isMember, message } = known
  const at = iso(now)
  const entry = (body: object, of: Partial<Entry> = {}): Entry => ({
    type: types[type as Kind],
    body: { actor, ...body },
    ...of,
  })
  if (type === 'message') return entry(messageBody(text ?? 'hello'))
  if (type === 'edit') {
    const before = message ?? ({ id: target, body: messageBody('') } as MessageFact)
    const body = { ...before.body, text: `${cid} ${version + 1}`, version: version + 1, edited_at: at }
    return entry({ id: target, message: { ...before, body } })
  }
  if (type === 'join') {
    const member = { user_address: sender, role: 'member', joined_at: at, joined_seq: seq + 1, joined_n: 0 }
    return entry({ member, member_count: members + 1 })
  }
  if (type === 'leave') return entry({ member_count: members - 1 })
  if (type === 'slow') return entry({ rules: { version: seq + 1, slow_mode_seconds: milliseconds }, diff: {} })
  const about = { target, reason: 'why not' }
  if (type === 'unban') return entry({ action: type }, about)
  if (type !== 'ban') return entry({}, about)
  const term = { user_address: target, reason: null, banned_at: at, banned_until: null }
  const ban = { ...term, ban_id: `ban ${seq + 1}`, banned_by: sender }
  return entry({ action: type, ban, ...(isMember ? { member_count: members - 1 } : {}) }, about)
}

/** Judges an act on the facts of the product. */
export const actOf = (deed: Deed): Act<'already'> => ({
  sender: deed.sender,
  cid: deed.cid,
  makes: makes(types[deed.type as Kind]),
  judge(view, now) {
    const { type, sender, target = '' } = deed
    const isWriting = type === 'message' || type === 'edit'
    const why = isWriting ? mayWrite(view, sender, now) : null
    const [member, ban] = [memberIn(view, sender), banIn(view, sender, now)]
    const about = { member: memberIn(view, target), ban: banIn(view, target, now) }
    const suspension = type.endsWith('suspend') ? suspensionIn(view, target) : null
    const message = type === 'edit' ? messageIn(view, target) : null
    const clock = type === 'message' ? clockIn(view, sender) : null
    const known = {
      seq: view.seq,
      now,
      members: roomIn(view)?.member_count ?? 0,
      isMember: about.member !== null,
      message,
    }
    if (why) return why
    if (type === 'message' && clock && now - clock.at < rulesIn(view).slow_mode_seconds) return refused('SLOW_MODE')
    if (type === 'edit' && !message) return refused('NOT_FOUND')
    if (type === 'edit' && versionOf(message as unknown as Fact) !== deed.version) return refused('CONFLICT')
    if (type === 'join' && ban) return refused('BANNED')
    const isAlready: Partial<Record<Kind, boolean>> = {
      join: member !== null,
      leave: member === null,
      ban: about.ban !== null,
      unban: about.ban === null,
      suspend: suspension !== null,
      unsuspend: suspension === null,
    }
    return isAlready[type as Kind] ? { already: 'already' } : { accept: entryOf(deed, known) }
  },
})

const refused = (code: ConstructorParameters<typeof AppError>[0]) => ({ refuse: new AppError(code) })

function mayWrite(view: View, sender: string, now: number): Extract<Judgement<never>, { refuse: AppError }> | null {
  const [suspension, ban, member] = [suspensionIn(view, sender), banIn(view, sender, now), memberIn(view, sender)]
  if (suspension) return refused('SUSPENDED')
  if (ban) return refused('BANNED')
  return member ? null : refused('NOT_A_MEMBER')
}

const founded = iso(0)

/** The record of a new room, before its first row. */
export const roomFact = (name: string): RoomFact =>
  roomFactOf({
    ...{ name, slug: name, emoji: 'e', category: 'c', member_count: 0, is_active: true, is_official: false },
    ...{ access_level: 'public', messaging_type: 'standard', created_at: founded, updated_at: founded },
  })
