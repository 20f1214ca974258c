import { createHash } from 'node:crypto'
import type { OwnRooms } from './own-rooms.ts'

/**
 * The version of an account's list, which changes with it. A room's part follows from its log, which the card's stamp
 * covers, and from the account's own data.
 */
export function listVersionOf({ cards, members, marks, mutes, blocked, peers }: OwnRooms): string {
  const parts = [
    cards.map(({ key, stamp }) => `${key} ${stamp}`).sort(),
    cards.flatMap(({ key }) => (marks.has(key) ? `${key} ${marks.get(key)?.seq}` : [])).sort(),
    [...members.values()].map(({ room, role }) => `${room} ${role}`).sort(),
    mutes.map(({ id, muted_until }) => `${id} ${muted_until}`).sort(),
    [...blocked].sort(),
    [...peers.values()].map(({ id, name }) => `${id} ${name}`).sort(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
