import { AppError } from '#shared/errors'
import { budgets, scaled } from './budgets.ts'
import { kindOf } from './connection-slots.ts'
import type { Caller, Node } from './context.ts'
import { nodeState } from './node-state.ts'

const heldOn = nodeState(() => new Map<unknown, number>())

/** Who has an answer stay open. Over REST a connection has one answer at a time, so that none is named. */
interface Holder {
  caller: Pick<Caller, 'account' | 'session' | 'ip'>
  connection: object | null
}

/**
 * Counts an answer that stays open, a sequence or a wait, over either door. Returns what ends the count. Throws `RATE_LIMIT_EXCEEDED` where
 * the connection, the account, or its kind of callers at the address has as many as it may.
 */
export function holdAnswer(node: Pick<Node, 'state' | 'limits' | 'now'>, { caller, connection }: Holder): () => void {
  const held = heldOn(node)
  const { account, ip } = caller
  const kind = kindOf(caller, node.now())
  const bounds = [
    { key: connection, budget: budgets.answersOfConnection, of: 'connection' },
    { key: account, budget: budgets.answersOfAccount, of: 'account' },
    { key: [kind, ip].join(' '), budget: budgets.answersOfAddress[kind], of: 'address' },
  ].filter(({ key }) => key !== null)
  for (const { key, budget, of } of bounds) {
    const most = scaled(budget, node.limits.scale)
    if ((held.get(key) ?? 0) < most) continue
    const message = `Your ${of} has ${most} answers open, streams and waits, and may have no more`
    throw new AppError('RATE_LIMIT_EXCEEDED', { message, retryAfter: retrySeconds })
  }
  for (const { key } of bounds) held.set(key, (held.get(key) ?? 0) + 1)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    for (const { key } of bounds) {
      const left = (held.get(key) ?? 0) - 1
      if (left > 0) held.set(key, left)
      else held.delete(key)
    }
  }
}

/** About as long as a wait may last. */
const retrySeconds = 25
