import type { Caller, Node } from '#server/kernel/context'
import { holdShares } from '#server/kernel/held'
import { budgets } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { callerKindOf } from '#server/kernel/sockets/connection-slots'

const heldOn = nodeState(() => new Map<unknown, number>())

/** The holder of an open answer. Over REST a connection has one answer at a time, so it is not counted. */
interface Holder {
  caller: Pick<Caller, 'account' | 'session' | 'ip'>
  connection: object | null
}

/**
 * Counts an open answer, a sequence or a wait, at both doors; returns the function that ends the count.
 * `RATE_LIMIT_EXCEEDED` if the connection, account, or kind at the address is at its limit.
 */
export function holdAnswer(node: Pick<Node, 'state' | 'limits' | 'now'>, { caller, connection }: Holder): () => void {
  const { account, ip } = caller
  const kind = callerKindOf(caller, node.now())
  return holdShares(
    heldOn(node),
    [
      { key: connection, budget: budgets.answersOfConnection, of: 'connection' },
      { key: account, budget: budgets.answersOfAccount, of: 'account' },
      { key: [kind, ip].join(' '), budget: budgets.answersOfAddress[kind], of: 'address' },
    ],
    { scale: node.limits.scale, what: 'answers open, streams and waits', retryAfter: retrySeconds },
  )
}

/** About the longest duration of a wait. */
const retrySeconds = 25
