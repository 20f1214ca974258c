import { GLOBAL, type RoomKey } from '#server/log/types'
import type { MessagePush } from '#shared/api/platform/push'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { type RoomKind, type RoomType, roomKinds, roomTypes } from '#shared/kit/room-kinds'
import type { RoomFact } from './facts.ts'

/** The server's part of a kind of room. */
interface ServerKind {
  /** Which accounts may see its name and size. */
  seenBy: 'anyone' | 'members'
  /** It is in the list of all channels, and searchable by name and description. */
  isListed: boolean
  /** Its name is unique, and clients may name it by slug. */
  hasUniqueName: boolean
  /** The REST answer to a member who joins again. */
  joiningAgain: 'refused' | 'answered'
  /** The member who cannot leave; null for none. */
  keeps: 'its last admin' | 'its owner' | null
  /** Are messages still readable after archiving, or is the room hidden from all except moderators? */
  archived: 'is read' | 'is gone'
  /** Who changes its rules: managers only, or all with the role of moderator. */
  rulesBy: 'managers' | 'moderators'
  /** The messages that cause push notifications, and their kind. */
  pushed: { of: 'all' | 'what names them'; as: MessagePush }
  founded: Founding
}

/** The origin of a room, with its default texts. */
type Founding =
  /** An account founds and manages it; lower roles may not close it. */
  | { by: 'its founder'; fields: Partial<RoomFact> }
  /** It exists from the first start under global moderators, and cannot be closed. */
  | { by: 'the server'; fields: Words }
  /** It exists as soon as both people of its id do, and cannot be closed. */
  | { by: 'its peers'; fields: Words }
type Words = Pick<RoomFact, 'name' | 'description' | 'emoji' | 'category'>

const byFounder = { by: 'its founder', fields: {} } as const
const open = {
  seenBy: 'anyone',
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
      by: 'the server',
      fields: { name: 'Alpha', description: 'Everybody is here.', emoji: '🌐', category: 'general' },
    },
  },
  location: { ...open, joiningAgain: 'answered', founded: { ...byFounder, fields: { category: 'location' } } },
  group: {
    ...open,
    seenBy: 'members',
    founded: { by: 'its founder', fields: { category: 'group' } },
    pushed: { of: 'all', as: 'group_message' },
  },
  token: {
    ...open,
    joiningAgain: 'answered',
    keeps: 'its last admin',
    rulesBy: 'moderators',
    founded: { ...byFounder, fields: { category: 'token' } },
  },
  dm: {
    ...open,
    seenBy: 'members',
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

type Kind = RoomKind & ServerKind

/** All properties of a kind of room. */
export const kinds = Object.fromEntries(
  roomTypes.map((type) => [type, { ...roomKinds[type], ...serverKinds[type] }]),
) as unknown as Record<RoomType, Kind>

/** The kind of the room with this key. */
export const kindOf = (key: RoomKey): Kind => kinds[roomOfKey(key).type]

/** Is its kind known to this version? Nodes of the next version may store others, which this one ignores. */
export const isKnownRoom = (key: RoomKey): boolean =>
  key === GLOBAL || (Object.hasOwn(kinds, roomOfKey(key).type) && roomKey(roomOfKey(key)) === key)

export const typesWhere = (holds: (kind: Kind) => boolean): RoomType[] => roomTypes.filter((type) => holds(kinds[type]))
