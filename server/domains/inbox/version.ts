import { createHash } from 'node:crypto'
import { profilesOf } from '#server/domains/accounts/profiles'
import { blockedBy } from '#server/domains/blocks/blocks'
import { Members, Reads } from '#server/domains/room-state/model'
import { isOfStaff } from '#server/domains/room-state/staff-rooms'
import { conversationMutesOf } from '#server/domains/social/conversation-mutes'
import type { Node } from '#server/kernel/context'
import { RoomHeads } from '#server/log/model'
import type { RoomKey } from '#server/log/types'
import { peerIn, roomOfKey } from '#shared/kit/room-key'

/**
 * Names what the list of these rooms shows an account: another after every change of it, told without making the list. All that is shown of a room
 * follows from its log, and from what is the account's own; records are written after the row, so how far they are is part of it.
 */
export async function versionOf(node: Node, account: string, keys: readonly RoomKey[]): Promise<string> {
  const peers = keys.flatMap((key) => peerIn(roomOfKey(key), account) ?? [])
  const [heads, marks, members, mutes, blocked, profiles] = await Promise.all([
    RoomHeads.find({ _id: { $in: [...keys] } }, { seq: 1, applied: 1 }).lean(),
    Reads.find({ _id: { $in: keys.map((key) => `${key}|${account}`) } }, { seq: 1 }).lean(),
    Members.find({ _id: { $in: keys.map((key) => `${key}|member:${account}`) } }, { role: 1 }).lean(),
    conversationMutesOf(account, node.now()),
    blockedBy(account),
    profilesOf(node, peers),
  ])
  const stored = new Map(heads.map(({ _id, seq, applied }) => [_id, [seq, applied]]))
  const places = [...keys].sort().map((key) => {
    const here = node.log.headHere(key)
    return [key, ...(here ? [here.seq, here.recorded] : (stored.get(key) ?? []))]
  })
  const told = [
    places,
    await isOfStaff(node, account),
    marks.map(({ _id, seq }) => `${_id} ${seq}`).sort(),
    members.map(({ _id, role }) => `${_id} ${role}`).sort(),
    mutes.map(({ id, muted_until }) => `${id} ${muted_until}`).sort(),
    [...blocked].sort(),
    [...profiles].map(([id, { name }]) => `${id} ${name}`).sort(),
  ]
  return createHash('sha256').update(JSON.stringify(told)).digest('base64url')
}
