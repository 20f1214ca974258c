import { budgets } from './budgets.ts'
import { kindOf } from './connection-slots.ts'
import type { Caller, Node } from './context.ts'
import { hold } from './held.ts'
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
  const { account, ip } = caller
  const kind = kindOf(caller, node.now())
  return hold(
    heldOn(node),
    [
      { key: connection, budget: budgets.answersOfConnection, of: 'connection' },
      { key: account, budget: budgets.answersOfAccount, of: 'account' },
      { key: [kind, ip].join(' '), budget: budgets.answersOfAddress[kind], of: 'address' },
    ],
    { scale: node.limits.scale, what: 'answers open, streams and waits', retryAfter: retrySeconds },
  )
}

/** About as long as a wait may last. */
const retrySeconds = 25
