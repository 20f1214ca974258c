import { endAdminProofs } from '#server/domains/people/accounts/accounts'
import { isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import type { Node, SignedIn } from '#server/kernel/context'
import { GLOBAL, type Row } from '#server/log/types'
import type { AuthMethod } from '#shared/api/people/identity'
import { sessionsEnded } from './events.ts'
import { type SessionRecord, Sessions } from './model.ts'

/** Ends every session of an account on all nodes. */
export async function endAllSessions(node: Node, account: string): Promise<void> {
  await endAdminProofs(account, node.now())
  await deleteAll({ user_address: account })
  await announceSessionEnd(node, account, 'all')
}

/** Ends an account's sessions of this method. */
export async function endSessionsBy(node: Node, account: string, auth_method: AuthMethod): Promise<void> {
  await endSessionsWhere(node, account, { user_address: account, auth_method })
}

/** Ends a session with all of its family; false if the account has no such session. */
export async function endSession(node: Node, account: string, id: string): Promise<boolean> {
  const record = await Sessions.findOne({ _id: id, user_address: account }).lean<SessionRecord>()
  if (!record) return false
  await announceSessionEnd(node, account, await deleteAll({ family: record.family }))
  return true
}

/** Ends the caller's other sessions of this method, except those of the same family. */
export async function endOtherSessions(node: Node, { account, session }: SignedIn, method: AuthMethod): Promise<void> {
  const mine = await Sessions.findOne({ _id: session.id }, { family: 1 }).lean<SessionRecord>()
  const family = { $ne: mine?.family ?? session.id }
  await endSessionsWhere(node, account, { user_address: account, family, auth_method: method })
}

/** Ends every session except the calling one. A thief may have refreshed a stolen token, so the family ends too. */
export async function endOtherDevices(node: Node, { account, session }: SignedIn): Promise<void> {
  await endAdminProofs(account, node.now())
  await endSessionsWhere(node, account, { user_address: account, _id: { $ne: session.id } })
}

async function endSessionsWhere(node: Node, account: string, which: object): Promise<void> {
  const ids = await deleteAll(which)
  if (ids.length > 0) await announceSessionEnd(node, account, ids)
}

/**
 * Repeats until none is left. A session that is being refreshed is deleted by a later pass, or its refresh fails
 * without the old record.
 */
async function deleteAll(which: object, gone: readonly string[] = []): Promise<readonly string[]> {
  const found = await Sessions.find(which, { _id: 1 }).lean<SessionRecord[]>()
  const ids = found.map(({ _id }) => _id)
  if (ids.length === 0) return gone
  await Sessions.deleteMany({ _id: { $in: ids } })
  return deleteAll(which, [...gone, ...ids])
}

/** The records are already deleted, so no door accepts the tokens. The row closes the sockets on every node. */
export async function announceSessionEnd(node: Node, account: string, ids: readonly string[] | 'all'): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    makes: sessionsEnded,
    judge: () => ({ accept: unsignedEntry(sessionsEnded, { ids }, { target: account }) }),
  })
}

/** Closes sockets of ended sessions on this node, whichever node ended them. */
export function followSessions(node: Node): () => void {
  const held = node.log.hold(GLOBAL)
  held.catch((error: unknown) => node.logger.error({ error }, 'ended sessions are not followed'))
  node.log.onRows((room, rows) => {
    if (room !== GLOBAL) return
    for (const row of rows) if (isRowOf(row, sessionsEnded)) closeSockets(node, row)
  })
  return () => {}
}

function closeSockets(node: Node, { target, body: { ids } }: Row): void {
  if (target === null) return
  const named = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : 'all'
  node.live.endSessions(target, named, 'SESSION_NOT_FOUND')
}
