import { keyOf } from '#server/domains/room-state/access'
import { actorOf } from '#server/domains/room-state/entries'
import { memberJoined } from '#server/domains/room-state/events/people'
import { becomeMember } from '#server/domains/room-state/membership'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { federationSettings } from './settings.ts'

/** Adds partner users to the partner's channel, if there is one. They are signed in even if that fails. */
export async function joinPartnerChannel(node: Node, account: string): Promise<void> {
  try {
    const key = await keyOf({ type: 'channel', id: federationSettings.of(node).channel })
    const actor = await actorOf(node, account)
    await node.log.act(key, {
      sender: account,
      makes: memberJoined,
      judge(view, now) {
        const judged = becomeMember(view, now, actor, { invited: true })
        return 'refuse' in judged ? { already: null } : judged
      },
    })
  } catch (error) {
    if (error instanceof AppError && error.code === 'ROOM_NOT_FOUND') return
    node.logger.warn({ actor: account, error }, 'did not join the partner channel at sign-in')
  }
}
