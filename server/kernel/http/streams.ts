import { repeatWork } from '#server/kernel/beat'
import type { Caller, Node } from '#server/kernel/context'
import { budgets, holdShares } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { callerKindOf } from '#server/kernel/sockets/connection-slots'
import { AppError, type ErrorCode } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'

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

const sweepMilliseconds = 1_000

interface Open {
  caller: Caller
  end(error: AppError): void
}

/** The open sequences over REST, which end with the session and the server. Those over a socket end with it. */
export function openStreams(node: Pick<Node, 'now' | 'state' | 'limits'>) {
  const open = new Set<Open>()
  let isDraining = false
  const endThose = (code: ErrorCode, isMeant: (caller: Caller) => boolean) => {
    for (const { caller, end } of [...open]) if (isMeant(caller)) end(new AppError(code))
  }
  const stopSweeping = repeatWork(sweepMilliseconds, () => {
    const now = node.now()
    endThose('SESSION_EXPIRED', ({ session }) => session !== null && session.expiresAt <= now)
  })

  return {
    /** Called before any look-up, so that no end is missed. Returns the function that leaves. */
    enter(stream: Open): () => void {
      if (isDraining) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
      const release = holdAnswer(node, { caller: stream.caller, connection: null })
      open.add(stream)
      return () => {
        open.delete(stream)
        release()
      }
    },
    endSessions(account: string, sessionIds: readonly string[] | 'all') {
      endThose('SESSION_NOT_FOUND', (caller) => {
        if (!isSameAccount(caller.account, account)) return false
        return sessionIds === 'all' || (caller.session !== null && sessionIds.includes(caller.session.id))
      })
    },
    /** Ends every sequence with an error after which clients reconnect, and refuses new ones. */
    drain() {
      isDraining = true
      stopSweeping()
      for (const { end } of [...open]) end(new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 }))
    },
  }
}
export type Streams = ReturnType<typeof openStreams>
