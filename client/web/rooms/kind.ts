import { type RoomKind, type RoomType, roomKinds } from '#shared/kit/room-kinds'
import type { IconName } from '../kit/icon.tsx'

interface Look {
  section: (typeof sections)[number]
  /** Null: the other person's avatar is shown. */
  icon: IconName | null
  /** It is always first in the list. */
  isFirst: boolean
  canLeave: boolean
  /** Its name can be linked in a message, after a `#`. */
  isNamed: boolean
  /** Every message notifies, not mentions alone. */
  callsForAll: boolean
  /** Guests of the demo may moderate it. */
  isOfDemo: boolean
  /** A picture is shown beside it. */
  isWatched: boolean
}

export const sections = ['rooms', 'groups', 'direct'] as const

const room: Look = {
  section: 'rooms',
  icon: 'hash',
  isFirst: false,
  canLeave: true,
  isNamed: true,
  callsForAll: false,
  isOfDemo: true,
  isWatched: false,
}

const looks: Record<RoomKind['shownAs'], Look> = {
  lobby: { ...room, isFirst: true, canLeave: false },
  room,
  circle: { ...room, section: 'groups', icon: 'people', isOfDemo: false },
  person: {
    ...room,
    section: 'direct',
    icon: null,
    canLeave: false,
    isNamed: false,
    callsForAll: true,
    isOfDemo: false,
  },
  broadcast: { ...room, icon: 'play', isOfDemo: false, isWatched: true },
}

/** A kind that this page does not know yet is shown as a plain room. */
export const kindOf = ({ type }: { type: RoomType }): RoomKind => roomKinds[type] ?? roomKinds.location
export const lookOf = (room: { type: RoomType }): Look => looks[kindOf(room).shownAs]
