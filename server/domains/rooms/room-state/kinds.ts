import { GLOBAL, type RoomKey } from '#server/log/types'
import type { MessagePush } from '#shared/api/push'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { type RoomKind, type RoomType, roomKinds, roomTypes } from '#shared/kit/room-kinds'
import type { RoomFact } from './facts.ts'

/** What the server alone asks of a kind of room, beside what both sides know of it. */
interface ServerKind {
  /** Who sees that it is there: its name and how many are in it. */
  seenBy: 'anyone' | 'members'
  /** Who reads what is said, where its rules do not say less. */
  readers: 'anyone' | 'members'
  /** It is in the list of all channels, and found by the words of its name and description. */
  isListed: boolean
  /** No two share a name, and clients may name it by its slug. */
  hasUniqueName: boolean
  /** What joining over REST answers to who is a member. */
  joiningAgain: 'refused' | 'answered'
  /** Who cannot leave it; null where anybody can. */
  keeps: 'its last admin' | 'its owner' | null
  /** Whether what was said there is read on once it is archived, or the room is gone for all but those who moderate. */
  archived: 'is read' | 'is gone'
  /** Who changes its rules: who may manage its moderators, or whoever has the role of one as well. */
  rulesBy: 'managers' | 'moderators'
  /** Of what browsers are told while no page is in front of their people, and as what. */
  pushed: { of: 'all' | 'what names them'; as: MessagePush }
  founded: Founding
}

/** Where a room comes from, and what it says of itself unless told otherwise. */
type Founding =
  /** An account makes it and runs it; nobody below that role may close it. */
  | { by: 'its founder'; fields: Partial<RoomFact> }
  /** It is there from the first start, moderated by those who moderate everywhere, and nobody closes it. */
  | { by: 'the house'; fields: Words }
  /** It exists as soon as both people whose ids make up its own do, and nobody closes it. */
  | { by: 'its peers'; fields: Words }
type Words = Pick<RoomFact, 'name' | 'description' | 'emoji' | 'category'>

const byFounder = { by: 'its founder', fields: {} } as const
const open = {
  seenBy: 'anyone',
  readers: 'anyone',
  isListed: false,
  hasUniqueName: false,
  joiningAgain: 'refused',
  keeps: null,
  rulesBy: 'managers',
  archived: 'is read',
  pushed: { of: 'what names them', as: 'channel_message' },
  founded: byFounder,
} as const

const serverKinds: Record<RoomType, ServerKind> = {
  channel: { ...open, isListed: true, hasUniqueName: true },
  alpha: {
    ...open,
    founded: {
      by: 'the house',
      fields: { name: 'Alpha', description: 'Everybody is here.', emoji: '🌐', category: 'general' },
    },
  },
  location: { ...open, joiningAgain: 'answered', founded: { ...byFounder, fields: { category: 'location' } } },
  group: {
    ...open,
    seenBy: 'members',
    readers: 'members',
    founded: { by: 'its founder', fields: { category: 'group' } },
    pushed: { of: 'all', as: 'group_message' },
  },
  token: {
    ...open,
    readers: 'members',
    joiningAgain: 'answered',
    keeps: 'its last admin',
    rulesBy: 'moderators',
    founded: { ...byFounder, fields: { category: 'token' } },
  },
  dm: {
    ...open,
    seenBy: 'members',
    readers: 'members',
    pushed: { of: 'all', as: 'message' },
    founded: {
      by: 'its peers',
      fields: { name: 'Direct message', description: null, emoji: '✉️', category: 'dm' },
    },
  },
  stream: {
    ...open,
    joiningAgain: 'answered',
    keeps: 'its owner',
    archived: 'is gone',
    founded: { ...byFounder, fields: { category: 'stream' } },
  },
}

export type Kind = RoomKind & ServerKind

/** All that sets one kind of room apart from another. */
export const kinds = Object.fromEntries(
  roomTypes.map((type) => [type, { ...roomKinds[type], ...serverKinds[type] }]),
) as unknown as Record<RoomType, Kind>

/** The kind of the room with this key. */
export const kindOf = (key: RoomKey): Kind => kinds[roomOfKey(key).type]

/** Is it a room of a kind that this version knows? A node of the next version may store others, which this one leaves alone. */
export const isKnown = (key: RoomKey): boolean =>
  key === GLOBAL || (Object.hasOwn(kinds, roomOfKey(key).type) && roomKey(roomOfKey(key)) === key)

export const typesWhere = (holds: (kind: Kind) => boolean): RoomType[] => roomTypes.filter((type) => holds(kinds[type]))
