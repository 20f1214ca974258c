import type { Node } from '#server/kernel/context'
import { GLOBAL, type Row } from '#server/log/types'
import { type SessionRecord, Sessions } from './model.ts'

const ended = 'sessions.ended'

/** Ends every session of an account, here and on every other node. */
export async function endAllSessions(node: Node, account: string): Promise<void> {
  await deleteAll({ user_address: account })
  await announce(node, account, 'all')
}

/** Ends one session of an account together with those it was refreshed from and to. */
export async function endSession(node: Node, account: string, id: string): Promise<void> {
  const record = await Sessions.findOne({ _id: id, user_address: account }).lean<SessionRecord>()
  if (!record) return
  const line = await Sessions.find({ family: record.family }, { _id: 1 }).lean<SessionRecord[]>()
  await deleteAll({ family: record.family })
  await announce(
    node,
    account,
    line.map(({ _id }) => _id),
  )
}

/** Until there are none: a session that was just being refreshed either is met by the second pass, or misses its forerunner. */
async function deleteAll(which: { user_address: string } | { family: string }): Promise<void> {
  const { deletedCount } = await Sessions.deleteMany(which)
  if (deletedCount > 0) await deleteAll(which)
}

/** The records go first: from then on no door takes the tokens, and the row takes the sockets. */
async function announce(node: Node, account: string, ids: readonly string[] | 'all'): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    judge: () => ({ accept: { type: ended, body: { ids }, target: account } }),
  })
}

/** Closes the sockets of ended sessions on this node, whoever ended them. */
export function followSessions(node: Node): void {
  node.log.hold(GLOBAL).catch((error: unknown) => node.logger.error({ error }, 'ended sessions are not followed'))
  node.log.onRows((room, rows) => {
    if (room !== GLOBAL) return
    for (const row of rows) if (row.type === ended) closeSockets(node, row)
  })
}

function closeSockets(node: Node, { target, body: { ids } }: Row): void {
  if (target === null) return
  const named = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : 'all'
  node.live.endSessions(target, named, 'SESSION_NOT_FOUND')
}
