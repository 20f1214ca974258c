import { endWelcome, ensureHouse } from '#server/domains/people/accounts/accounts'
import { befriend } from '#server/domains/people/friends/requests'
import { tell } from '#server/domains/rooms/messages/tell'
import type { Node } from '#server/kernel/context'
import { welcomeSettings } from './settings.ts'

export const welcomes = (node: Node): boolean => welcomeSettings.of(node).message !== null

/**
 * Plaza's welcome to a newcomer, and its friendship. It is sent once, even after simultaneous sign-ins or a failure.
 * Only the sender makes the friendship, so that an ended one does not return.
 */
export async function welcome(node: Node, account: string): Promise<void> {
  const { message } = welcomeSettings.of(node)
  if (message !== null) {
    const house = await ensureHouse(node.now())
    const told = await tell(node, house, account, { type: 'welcome', text: message, cid: 'welcome' })
    if (told?.isNew) await befriend(node, house, account)
    if (told === null) node.logger.warn({ actor: account }, 'a welcome was refused')
  }
  await endWelcome(account)
}
