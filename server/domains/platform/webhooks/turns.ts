import { isSameAccount } from '#shared/kit/accounts'

/** Simultaneous deliveries of a node. */
const most = 64
/** Simultaneous deliveries to slow or failing receivers, in all and per account, so that others have slots. */
const mostSlow = 32
const mostSlowOfAccount = 4

export interface WebhookTurnEnd {
  isMore: boolean
  /** The receiver was slow or failed; null if nothing was sent. */
  isSlow: boolean | null
}

/** Gives webhooks their turns at this node in order, each once at a time. */
export function createWebhookTurns(take: (id: string) => Promise<WebhookTurnEnd>) {
  /** The accounts of waiting webhooks, in order. */
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
    /** Requests a turn; a running webhook gets another one. */
    request(id: string, account: string): void {
      if (!waiting.has(id)) waiting.set(id, account)
      beginSome()
    },
    /** Cancels a waiting turn. */
    drop(id: string): void {
      waiting.delete(id)
      slow.delete(id)
    },
    /** Starts no more turns. */
    end(): void {
      isEnded = true
    },
  }
}
