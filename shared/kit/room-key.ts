export const roomTypes = ['channel', 'alpha', 'location', 'group', 'token', 'dm', 'stream'] as const
export type RoomType = (typeof roomTypes)[number]

/** The text form of a room's key: `type:id`, or `alpha`. */
export const roomKey = (room: { type: RoomType; id: string | null }): string =>
  room.id === null ? room.type : `${room.type}:${room.id}`

export const roomOfKey = (key: string): { type: RoomType; id: string | null } => {
  const colon = key.indexOf(':')
  if (colon < 0) return { type: 'alpha', id: null }
  return { type: key.slice(0, colon) as RoomType, id: key.slice(colon + 1) }
}

/** The dm between two accounts. */
export const dmOf = (one: string, other: string): { type: 'dm'; id: string } => ({
  type: 'dm',
  id: [one, other].sort().join('~'),
})
