import { endWelcome, ensurePlazaAccount } from '#server/domains/people/accounts/accounts'
import { makeFriends } from '#server/domains/people/friends/requests'
import { sendClearMessage } from '#server/domains/rooms/messages/clear-messages'
import type { Node } from '#server/kernel/context'
import { welcomeSettings } from './settings.ts'

export const hasWelcome = (node: Node): boolean => welcomeSettings.of(node).message !== null

/**
 * Plaza's welcome to a newcomer, and its friendship. It is sent once, even after simultaneous sign-ins or a failure.
 * Only the sender makes the friendship, so that an ended one does not return.
 */
export async function sendWelcome(node: Node, account: string): Promise<void> {
  const { message } = welcomeSettings.of(node)
  if (message !== null) {
    const plaza = await ensurePlazaAccount(node.now())
    const sent = await sendClearMessage(node, plaza, account, { type: 'welcome', text: message, cid: 'welcome' })
    if (sent?.isNew) await makeFriends(node, plaza, account)
    if (sent === null) node.logger.warn({ actor: account }, 'a welcome was refused')
  }
  await endWelcome(account)
}
