import { keyOf } from '#server/domains/rooms/room-state/access'
import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { actorOf, standingOf } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { AppError } from '#shared/errors'
import { roomKey } from '#shared/kit/primitives'
import { roomSettings } from './settings.ts'

/**
 * Adds partner users to the partner's channel, if it exists; a failure does not prevent the sign-in. A channel named by
 * slug must be an admin's, because anybody could once take the slug.
 */
export async function joinPartnerChannel(node: Node, account: string): Promise<void> {
  try {
    const named = { type: 'channel' as const, id: roomSettings.of(node).partnerChannel }
    const key = await keyOf(named)
    if (key !== roomKey(named) && !(await isOfAdmin(node, key)))
      return node.logger.warn(
        { room: key },
        'the channel with the slug of PARTNER_CHANNEL is not of an admin: name it by its id',
      )
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

/** Is this the slug of the partner's channel, which all partner users join? */
export const isPartnerSlug = (node: Node, slug: string): boolean => slug === roomSettings.of(node).partnerChannel

async function isOfAdmin(node: Node, key: string): Promise<boolean> {
  const owner = await node.log.ask(key, (view) => roomIn(view)?.owner_address ?? null)
  return owner !== null && node.log.ask(GLOBAL, (view) => standingOf(view, owner).isAdmin)
}
