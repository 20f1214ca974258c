import { z } from 'zod'
import { rightsIn, type Standing } from '#server/domains/rooms/room-state/standing'
import { audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type View } from '#server/log/types'
import { AppError } from '#shared/errors'

/** Is this account a moderator here, neither banned nor suspended? */
export const isActiveModerator = (view: View, account: string, now = view.at): boolean =>
  rightsIn(view, account, now).isModerator

/** Subscribes a moderator from the row at which the right was checked. The room stays open meanwhile. */
export async function subscribeModerator({ node, caller, connection }: Context, key: RoomKey): Promise<Standing> {
  const account = caller.account ?? ''
  const isFirst = connection !== null && !scopesOf(connection).includes(key)
  const rights = await node.log.ask(
    key,
    (view, now) => rightsIn(view, account, now),
    ({ isModerator }) => isModerator && connection && listen(connection, key),
  )
  if (!rights.isModerator) throw new AppError('FORBIDDEN', { message: 'Only moderators may see this' })
  if (isFirst) connection.onClose(await node.log.hold(key))
  return rights
}

const listened = 'moderates '
const scopesOf = ({ memory }: Connection): RoomKey[] =>
  [...memory.keys()].filter((name) => name.startsWith(listened)).map((name) => name.slice(listened.length))

function listen(connection: Connection, key: RoomKey): void {
  if (!connection.isOpen) return
  connection.memory.set(listened + key, true)
  connection.join(audiences.moderators(key))
}

/** A lost right ends the subscription at once: before the next row, and before the act is answered. */
export function unsubscribeModerator(node: Node, key: RoomKey, account: string): void {
  for (const connection of node.live.connectionsOf('/moderation', audiences.account(account)))
    for (const scope of scopesOf(connection))
      if (scope === key || key === GLOBAL) unsubscribeConnection(node, connection, scope, account)
}

function unsubscribeConnection(node: Node, connection: Connection, scope: RoomKey, account: string): void {
  const question = (view: View) => isActiveModerator(view, account)
  const does = node.log.answerHere(scope, question)
  if (does) return
  connection.leave(audiences.moderators(scope))
  if (does === null) node.log.ask(scope, question, (still) => still && listen(connection, scope)).catch(() => {})
}

const moderatorsTopic = 'moderators'

export async function moderatorsOnline(node: Node, key: RoomKey): Promise<string[]> {
  const elsewhere = await node.peers.ask(moderatorsTopic, key)
  return [...new Set([moderatorsHere(node, key), ...elsewhere.map(accountsIn)].flat())]
}

const accountsIn = (answer: unknown) => z.array(z.string()).safeParse(answer).data ?? []

const moderatorsHere = (node: Node, key: RoomKey): string[] =>
  node.live.connectionsOf('/moderation', audiences.moderators(key)).flatMap(({ account }) => account ?? [])

/** Answers other nodes with the moderators connected here. */
export const answerModerators = (node: Node): (() => void) =>
  node.peers.answer(moderatorsTopic, (key) => (typeof key === 'string' ? moderatorsHere(node, key) : []))
