import { entryOf, nameOf } from '#server/domains/rooms/entries'
import { moderatorIn } from '#server/domains/rooms/facts'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL } from '#server/log/types'

/** Makes somebody a moderator of every official room, by the house itself. */
export async function grantGlobalModerator(node: Node, granted_by: string, account: string): Promise<void> {
  const name = await nameOf(account)
  const all = { can_pin: true, can_delete: true, can_mute: true, can_manage_mods: true }
  await node.log.act<null>(GLOBAL, {
    sender: granted_by,
    judge(view, now) {
      if (moderatorIn(view, account)) return { already: null }
      const moderator = {
        moderator_id: newId(),
        user_address: account,
        granted_by,
        granted_at: new Date(now).toISOString(),
        ...all,
        notes: null,
      }
      const permissions = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
      const body = { role: 'moderator', moderator, permissions }
      return {
        accept: entryOf(view, { account: granted_by, name: 'Plaza' }, 'role.changed', body, {
          target: account,
          targetName: name,
        }),
      }
    },
  })
}
