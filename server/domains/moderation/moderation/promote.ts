import { demoRooms } from '#server/domains/rooms/room-state/demo-rooms'
import { roleChanged } from '#server/domains/rooms/room-state/events/people'
import { grantIn, moderatorIn } from '#server/domains/rooms/room-state/facts'
import { Moderators, Rooms } from '#server/domains/rooms/room-state/model'
import { displayNameOf, entryOf, isLimited, plazaActor } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL, type RoomKey, type View } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'

/** All rights of a moderator, which the demo grants. */
const allRights = { can_pin: true, can_delete: true, can_mute: true, can_manage_mods: true }

/** Makes an account a moderator of the demo's rooms. */
export async function grantDemoModerator(node: Node, account: string): Promise<void> {
  const there = await Rooms.find({ _id: { $in: demoRooms } }, { _id: 1 }).lean()
  for (const { _id } of there)
    await changeGrant(
      node,
      _id,
      account,
      (view) => moderatorIn(view, account) === null && !isLimited(view, account),
      true,
    )
}

/** Removes all grants of the demo in its rooms, and those of older versions everywhere. */
export async function endDemoGrants(node: Node): Promise<void> {
  const given = { room: { $in: [GLOBAL, ...demoRooms] }, granted_by: plazaActor.account, is_active: true }
  for (const { room, user_address } of await Moderators.find(given).lean())
    await changeGrant(
      node,
      room,
      user_address,
      (view) => isSameAccount(grantIn(view, user_address)?.granted_by, plazaActor.account),
      false,
    )
}

async function changeGrant(
  node: Node,
  room: RoomKey,
  account: string,
  isDue: (view: View) => boolean,
  isGiven: boolean,
): Promise<void> {
  const about = { target: account, targetName: await displayNameOf(node, account) }
  await node.log.act(room, {
    sender: plazaActor.account,
    makes: roleChanged,
    judge(view, now) {
      if (!isDue(view)) return { already: null }
      const moderator = isGiven
        ? {
            ...{
              moderator_id: newId(),
              user_address: account,
              granted_by: plazaActor.account,
              notes: null,
              granted_seq: view.seq,
            },
            ...{ granted_at: new Date(now).toISOString(), ...allRights },
          }
        : null
      const permissions = isGiven ? { canPin: true, canDelete: true, canMute: true, canManageMods: true } : null
      const body = { role: isGiven ? 'moderator' : 'member', moderator, permissions }
      return { accept: entryOf(view, plazaActor, roleChanged, body, about) }
    },
  })
}
