import { endWelcome, ensureHouse } from '#server/domains/people/accounts/accounts'
import { befriend } from '#server/domains/people/friends/requests'
import { tell } from '#server/domains/rooms/messages/tell'
import type { Node } from '#server/kernel/context'
import { welcomeSettings } from './settings.ts'

/** Whether somebody new is welcomed. */
export const welcomes = (node: Node): boolean => welcomeSettings.of(node).message !== null

/**
 * Plaza says welcome to somebody new, and is a friend of theirs from then on. They are told once, also where they sign in twice at the
 * same moment, or where this ends before it is done and their next sign-in begins anew. Whoever tells them makes the friendship, and nobody
 * after that, so that one which they have ended does not come back.
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
