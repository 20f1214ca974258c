import type { RoomType } from '#shared/kit/primitives'

/** What sets one kind of room apart from another. A new kind is a line here. */
export interface Kind {
  /** Who may read its log and its state. */
  readers: 'anyone' | 'members'
  /** How somebody becomes a member. `never`: membership follows from the room's id. */
  joining: 'open' | 'invited' | 'never'
  /** The path its rules and bans are told under; null where documents name none. */
  chatType: string | null
  /** Its messages are ciphertext, which no rule can read. */
  isSealed: boolean
}

export const kinds: Record<RoomType, Kind> = {
  channel: { readers: 'anyone', joining: 'open', chatType: 'channel', isSealed: false },
  alpha: { readers: 'anyone', joining: 'open', chatType: 'alpha', isSealed: false },
  location: { readers: 'anyone', joining: 'open', chatType: 'location', isSealed: false },
  token: { readers: 'members', joining: 'open', chatType: 'token', isSealed: false },
  stream: { readers: 'anyone', joining: 'open', chatType: null, isSealed: false },
  group: { readers: 'members', joining: 'invited', chatType: 'group', isSealed: false },
  dm: { readers: 'members', joining: 'never', chatType: null, isSealed: true },
}

export const peersOf = (dmId: string | null): readonly string[] => dmId?.split('~') ?? []
