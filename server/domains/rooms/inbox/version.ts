import { createHash } from 'node:crypto'
import type { OwnRooms } from './own-rooms.ts'

/**
 * Names what the list of these rooms shows an account: another after every change of it. All that is shown of a room follows from its log,
 * which its card's stamp names, and from what is the account's own.
 */
export function versionOf({ cards, members, marks, mutes, blocked, peers }: OwnRooms): string {
  const told = [
    cards.map(({ key, stamp }) => `${key} ${stamp}`).sort(),
    cards.flatMap(({ key }) => (marks.has(key) ? `${key} ${marks.get(key)?.seq}` : [])).sort(),
    [...members.values()].map(({ room, role }) => `${room} ${role}`).sort(),
    mutes.map(({ id, muted_until }) => `${id} ${muted_until}`).sort(),
    [...blocked].sort(),
    [...peers.values()].map(({ id, name }) => `${id} ${name}`).sort(),
  ]
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url')
}
