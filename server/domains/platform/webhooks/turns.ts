import { isSameAccount } from '#shared/kit/accounts'

/** How many webhooks a node delivers at once. */
const most = 64
/** Of those whose receivers were slow, or did not take what they were sent, so that the others always have places: in all, and of an account. */
const mostSlow = 32
const mostSlowOfAccount = 4

/** How a turn of a webhook ended. */
export interface TurnEnd {
  /** There is more to send at once. */
  isMore: boolean
  /** Its receiver was slow in the end, or did not take what it was sent; null where nothing was sent. */
  isSlow: boolean | null
}

/** Gives each webhook its turn on this node, in the order in which they asked; the same one never twice at a time. */
export function createTurns(take: (id: string) => Promise<TurnEnd>) {
  /** The accounts of those that wait, in their order. */
  const waiting = new Map<string, string>()
  const running = new Map<string, string>()
  const slow = new Set<string>()
  let isEnded = false

  function beginSome(): void {
    const slowAccounts = [...running].flatMap(([id, account]) => (slow.has(id) ? [account] : []))
    for (const [id, account] of waiting) {
      if (isEnded || running.size >= most) return
      if (running.has(id)) continue
      if (slow.has(id)) {
        const ofAccount = slowAccounts.filter((one) => isSameAccount(one, account)).length
        if (slowAccounts.length >= mostSlow || ofAccount >= mostSlowOfAccount) continue
        slowAccounts.push(account)
      }
      waiting.delete(id)
      running.set(id, account)
      void begin(id, account)
    }
  }

  async function begin(id: string, account: string): Promise<void> {
    const { isMore, isSlow } = await take(id)
    running.delete(id)
    if (isSlow) slow.add(id)
    if (isSlow === false) slow.delete(id)
    if (isMore) waiting.set(id, account)
    beginSome()
  }

  return {
    /** Gives it a turn as soon as there is a place; one that has its turn now has another one after it. */
    ask(id: string, account: string): void {
      if (!waiting.has(id)) waiting.set(id, account)
      beginSome()
    },
    /** It has no turn any more. */
    drop(id: string): void {
      waiting.delete(id)
      slow.delete(id)
    },
    /** No turn begins any more. */
    end(): void {
      isEnded = true
    },
  }
}
