/** What mutes and reports call the conversation of a room. */
export const conversations = ['dm', 'group', 'channel'] as const
export type Conversation = (typeof conversations)[number]

/** What both sides know of a kind of room. What concerns the server alone is in `server/domains/rooms/room-state/kinds.ts`. */
export interface RoomKind {
  /** Generated; none, as there is one room of the kind; or both accounts, sorted and joined by `~`. */
  id: 'made' | 'none' | 'peers'
  /** How somebody becomes a member. Where it follows from the id, nobody joins, leaves, or invites by link. */
  joining: 'open' | 'invited' | 'from the id'
  /** Which accounts may read its messages, unless its rules restrict that. */
  readers: 'anyone' | 'members'
  /** Writers become members by their first message. */
  writingJoins: boolean
  /** The operation of `rooms` that founds one; null if no account can. */
  foundedBy: string | null
  /** The role of the founder, who manages the room; null if no member does. */
  runBy: 'owner' | 'admin' | null
  /** Who may write: every member, or moderators alone, whatever its rules say. `read_only` of its rules says so to clients. */
  writers: 'members' | 'moderators'
  /** The most characters of a message; null where any may be as long as everywhere. `max_message_length` of its rules is never more. */
  longestMessage: number | null
  /** `files_allowed` of its rules until somebody sets it. */
  filesAllowed: 'everyone' | 'disabled'
  /** Messages are sealed on its people's devices, which alone have the keys. `sealedBy` has the sealing of every room. */
  isSealed: boolean
  /** A room of the kind may have a key that its members share. */
  mayShareKey: boolean
  /** Rules, bans and blocked words, at the paths that name the kind as `chatType`. */
  hasRules: boolean
  /** Without moderators every member may pin, and events stay in the room. */
  hasModerators: boolean
  /** How many are in it and online; who types. */
  tells: { counts: boolean; typing: boolean }
  conversation: Conversation
  /** The field that carries its id in rows of the documented paths. */
  idField: 'channel_id' | 'group_id' | null
  /** Where the documented paths have rooms of the kind, besides `/api/rooms`; none where they have none. */
  paths: readonly string[]
  /** What paths of agents call it; null where official agents are no members. */
  agentPlace: string | null
  /** What a page shows it as. */
  shownAs: 'lobby' | 'room' | 'circle' | 'person' | 'broadcast'
}

const open = {
  id: 'made',
  joining: 'open',
  readers: 'anyone',
  writingJoins: false,
  foundedBy: null,
  runBy: 'owner',
  writers: 'members',
  longestMessage: null,
  // Strangers can join, and a file is more dangerous than a picture.
  filesAllowed: 'disabled',
  isSealed: false,
  mayShareKey: false,
  hasRules: true,
  hasModerators: true,
  tells: { counts: true, typing: true },
  conversation: 'channel',
  idField: null,
  paths: [],
  agentPlace: null,
  shownAs: 'room',
} as const satisfies RoomKind

/** A new kind of room is an entry here and one on the server. */
export const roomKinds = {
  channel: {
    ...open,
    mayShareKey: true,
    foundedBy: 'createChannel',
    idField: 'channel_id',
    paths: ['/api/channels/:id'],
    agentPlace: 'channel',
  },
  alpha: {
    ...open,
    id: 'none',
    runBy: null,
    paths: ['/api/alpha', '/api/channels/global'],
    agentPlace: 'global',
    shownAs: 'lobby',
  },
  location: {
    ...open,
    foundedBy: 'createLocationRoom',
    paths: ['/api/location-chats/:id'],
    agentPlace: 'location',
  },
  group: {
    ...open,
    joining: 'invited',
    readers: 'members',
    foundedBy: 'createGroup',
    runBy: 'admin',
    filesAllowed: 'everyone',
    conversation: 'group',
    idField: 'group_id',
    paths: ['/api/groups/:id'],
    shownAs: 'circle',
  },
  token: {
    ...open,
    readers: 'members',
    foundedBy: 'createTokenRoom',
    filesAllowed: 'everyone',
    paths: ['/api/token-chats/:id'],
  },
  dm: {
    ...open,
    id: 'peers',
    joining: 'from the id',
    readers: 'members',
    foundedBy: 'openDm',
    runBy: null,
    filesAllowed: 'everyone',
    isSealed: true,
    hasRules: false,
    hasModerators: false,
    tells: { counts: false, typing: true },
    conversation: 'dm',
    shownAs: 'person',
  },
  stream: {
    ...open,
    writingJoins: true,
    longestMessage: 500,
    tells: { counts: true, typing: false },
    shownAs: 'broadcast',
  },
} as const satisfies Record<string, RoomKind>

export type RoomType = keyof typeof roomKinds
export const roomTypes = Object.keys(roomKinds) as [RoomType, ...RoomType[]]

/** The sealing of a room: `epoch`, by keys of its people's devices, or `shared-key`, by the server's key for members. */
export type SealedBy = 'epoch' | 'shared-key'
/** Null where messages are in clear. Where they are not, no rule reads them, no search finds them, and nothing shows their text. */
export function sealedBy(room: { type: RoomType; messaging_type?: string | null | undefined }): SealedBy | null {
  if (roomKinds[room.type]?.isSealed) return 'epoch'
  return room.messaging_type === 'p2p' ? 'shared-key' : null
}

type TypeWith<Field extends keyof RoomKind, Value> = {
  [Type in RoomType]: (typeof roomKinds)[Type][Field] extends Value ? Type : never
}[RoomType]

/** A kind that accounts found rooms of, each with an id of its own, and the operation that does. */
export type FoundedType = TypeWith<'foundedBy', string> & TypeWith<'id', 'made'>
/** The kind of rooms that an operation founds. */
export const foundedBy = <Operation extends string>(operation: Operation) =>
  roomTypes.find((type) => roomKinds[type].foundedBy === operation) as {
    [Type in RoomType]: (typeof roomKinds)[Type]['foundedBy'] extends Operation ? Type : never
  }[RoomType]
export type FoundingOperation<Type extends RoomType = RoomType> = NonNullable<(typeof roomKinds)[Type]['foundedBy']>

/** A kind whose rules are at paths of their own. */
type ChatType = TypeWith<'hasRules', true>
export const isChatType = (type: RoomType): type is ChatType => roomKinds[type]?.hasRules
export const chatTypes = roomTypes.filter(isChatType)

/** A kind of which there is one room, without an id. */
type SingleType = TypeWith<'id', 'none'>
export const isSingle = (type: RoomType): type is SingleType => roomKinds[type].id === 'none'
export const singleTypes = roomTypes.filter(isSingle)

/** A kind in which moderators alone write, whatever the rules of a room say. */
export const isForModerators = (type: RoomType): boolean =>
  (roomKinds[type] as RoomKind | undefined)?.writers === 'moderators'

/** The effective `max_message_length`. 0, for no limit, and higher values become the kind's limit. */
export function longestIn(type: RoomType, asked: number): number {
  const { longestMessage: most = null } = (roomKinds[type] as RoomKind | undefined) ?? {}
  return most === null || (asked > 0 && asked < most) ? asked : most
}

/** The effective `files_allowed` where the rules do not set it. */
export const filesAllowedIn = (type: RoomType): RoomKind['filesAllowed'] =>
  (roomKinds[type] as RoomKind | undefined)?.filesAllowed ?? 'disabled'

/** A kind of room between two accounts. It exists with both accounts, and a block bars both. */
export const isBetweenTwo = (type: RoomType): boolean => roomKinds[type].id === 'peers'

/** Where official agents can be members, as paths of agents call it. */
export type AgentPlace = NonNullable<(typeof roomKinds)[RoomType]['agentPlace']>
export const agentPlaces = roomTypes.flatMap((type) => roomKinds[type].agentPlace ?? []) as [
  AgentPlace,
  ...AgentPlace[],
]
