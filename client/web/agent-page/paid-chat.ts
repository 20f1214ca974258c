import { v4 as uuid } from 'uuid'
import { asAppError, noAnswer, wasNotAnswered } from '#client/sdk/failures'
import { observable } from '#client/sdk/observable'
import { backoff, pauseFor } from '#client/sdk/timing'
import type { Client } from '#client/sdk/types'
import type { CutShort } from '#shared/api/agents/run-frames'
import type { AppError } from '#shared/errors'
import { type KeptQuestion, type KeptReceipt, visitOf } from './kept.ts'
import { isOverIn, type Offer, offerIn, type Payer } from './offer.ts'

/** How far a question is. */
type Stage =
  | { at: 'asking' }
  /** It is to be paid; `problem` is why it was not. */
  | { at: 'priced'; offer: Offer; problem: unknown }
  | { at: 'wallet'; offer: Offer; name: string }
  /** The payment was sent. */
  | { at: 'paying' }
  /** It may be charged or not: the server finds out. `isOver`: nothing more is charged with it, so that it may be left. */
  | { at: 'unknown'; isOver: boolean }
  /** It is paid, and answered already: for a page that was left, or in another tab. */
  | { at: 'waiting' }
  /** The server cannot be reached. */
  | { at: 'cut'; isPaid: boolean }
  | { at: 'writing'; text: string }
  | { at: 'done'; text: string; cutShort: CutShort | null; receipt: KeptReceipt }
  /** `spent` is the payment where it is good for no other try. */
  | { at: 'failed'; text: string; problem: unknown; isPaid: boolean; spent: string | null }

export interface Asked extends KeptQuestion {
  stage: Stage
  /** It was asked before the page was opened. */
  isResumed: boolean
}

export interface Said {
  role: 'user' | 'assistant'
  content: string
  cut_short?: CutShort | undefined
}

interface State {
  /** What was said before this page was opened; null until it is loaded. */
  said: readonly Said[] | null
  problem: unknown
  asked: readonly Asked[]
  receipts: readonly KeptReceipt[]
}

const lookMilliseconds = 2_000
const refusals = ['INVALID_PAYMENT', 'WRONG_NETWORK', 'INSUFFICIENT_PAYMENT', 'PAYMENT_EXPIRED', 'X402_PAYMENT_FAILED']

/**
 * Asks an agent that is paid for by each answer. A payment is stored in the browser before it is sent, and is sent again with the same
 * question until it is answered or refused, also after the page was reloaded: so it is charged once.
 */
export function paidChat(client: Client, agent: string) {
  const visit = visitOf(agent)
  const { session } = visit
  const state = observable<State>({ said: null, problem: null, asked: [], receipts: visit.receipts() })
  let end = new AbortController()

  const change = (more: Partial<State>) => state.set({ ...state.value, ...more })
  const find = (key: string) => state.value.asked.find((one) => one.key === key)
  const put = (asked: Asked) => {
    const others = state.value.asked
    change({ asked: find(asked.key) ? others.map((one) => (one.key === asked.key ? asked : one)) : [...others, asked] })
  }
  const show = (key: string, stage: Stage) => {
    const asked = find(key)
    if (asked) put({ ...asked, stage })
  }
  const drop = (key: string) => {
    visit.forget(key)
    change({ asked: state.value.asked.filter((one) => one.key !== key) })
  }

  /** Asks until there is an answer, a price or a refusal. Nothing else is ever sent for a question than the payment that it has. */
  async function send(key: string): Promise<void> {
    const { signal } = end
    for (let tries = 0; !signal.aborted; ) {
      const asked = find(key)
      if (!asked) return
      try {
        return await read(asked, signal)
      } catch (cause) {
        if (signal.aborted) return
        const error = asAppError(cause)
        const { code, retryAfter = 1 } = error
        if (code === 'PAYMENT_PENDING') await found(asked, error, signal)
        else if (code === 'CONFLICT') {
          show(key, { at: 'waiting' })
          await pauseFor(retryAfter * 1000, signal)
        } else if (wasNotAnswered(error) || code === 'RATE_LIMIT_EXCEEDED') {
          if (wasNotAnswered(error)) show(key, { at: 'cut', isPaid: asked.payment !== null })
          await pauseFor(Math.max(retryAfter * 1000, backoff(tries++, 1_000)), signal)
        } else return refused(asked, error)
      }
    }
  }

  async function read(asked: Asked, signal: AbortSignal): Promise<void> {
    const { key, message, payment } = asked
    const paid = payment === null ? {} : { payment, follow: true }
    let text = ''
    for await (const line of client.payments.chatStream(
      { id: agent, message, sessionId: session, ...paid },
      { signal },
    )) {
      if (line.type === 'chunk') {
        text += line.text
        show(key, { at: 'writing', text })
      } else if (line.type === 'done') {
        const { id, network, amount, transaction, simulated } = line.payment
        const receipt = { id, network, amount, transaction, simulated }
        visit.forget(key)
        visit.add(receipt)
        show(key, { at: 'done', text: line.message, cutShort: line.cut_short ?? null, receipt })
        return change({ receipts: visit.receipts() })
      } else return failed(asked, text, line.code ?? null, line.payment.answers_left === 0 ? line.payment.id : null)
    }
    throw noAnswer()
  }

  /** Looks until it is known what came of a payment. */
  async function found({ key }: Asked, { details }: AppError, signal: AbortSignal): Promise<void> {
    const { id } = (details?.payment ?? {}) as { id?: string }
    show(key, { at: 'unknown', isOver: isOverIn(details) })
    do await pauseFor(lookMilliseconds, signal)
    while (!signal.aborted && id !== undefined && find(key) && (await isUnknown(key, id)))
  }
  const isUnknown = (key: string, id: string) =>
    client.payments.payment({ id }).then(
      ({ state: how, is_over: isOver }) => {
        if (how === 'unknown') show(key, { at: 'unknown', isOver })
        return how === 'unknown'
      },
      () => true,
    )

  async function refused(asked: Asked, error: AppError): Promise<void> {
    const { key, message, payment, isResumed } = asked
    const isPrice = error.code === 'PAYMENT_REQUIRED'
    const offer = isPrice || refusals.includes(error.code) ? offerIn(error.details) : null
    // One that was made for another question stays good for that.
    if (!offer && error.code === 'INVALID_PAYMENT') return failed({ ...asked, payment: null }, '', error)
    if (!offer) return failed(asked, '', error)
    // Only the history has an old answer.
    if (payment !== null && isResumed && (await wasAnswered(message))) return drop(key)
    const unpaid = { key, message, payment: null, isFailed: false }
    visit.keep(unpaid)
    put({ ...unpaid, isResumed, stage: { at: 'priced', offer, problem: isPrice ? null : error } })
  }

  async function history(): Promise<readonly Said[]> {
    if (!visit.hasAsked()) return []
    try {
      return (await client.payments.history({ id: agent, sessionId: session })).messages
    } catch (error) {
      if (asAppError(error).code === 'CHAT_HISTORY_NOT_FOUND') return []
      throw error
    }
  }

  async function wasAnswered(message: string): Promise<boolean> {
    const said = await history().catch(() => [])
    const [question, answer] = said.slice(-2)
    if (question?.content !== message || answer?.role !== 'assistant') return false
    change({ said })
    return true
  }

  function failed(asked: Asked, text: string, problem: unknown, spent: string | null = null): void {
    const kept = { ...keptOf(asked), isFailed: true, spent }
    visit.keep(kept)
    put({ ...asked, ...kept, stage: { at: 'failed', text, problem, isPaid: kept.payment !== null, spent } })
  }

  async function load(): Promise<void> {
    change({ problem: null })
    const isDone = ({ stage }: Asked) => stage.at === 'done'
    const told = state.value.asked.filter(isDone).map(({ key }) => key)
    try {
      const said = await history()
      change({ said, asked: state.value.asked.filter(({ key }) => !told.includes(key)) })
    } catch (problem) {
      change({ problem })
    }
  }

  /** Follows what another tab did with a question; true where it did something. */
  function adopt(key: string): boolean {
    const kept = visit.questions().find((one) => one.key === key)
    const asked = find(key)
    if (!asked || (kept && kept.payment === null)) return false
    if (kept) {
      put({ ...asked, ...kept, stage: { at: 'paying' } })
      void send(key)
    } else {
      drop(key)
      void load()
    }
    return true
  }
  const isUnpaid = ({ stage: { at } }: Asked) => at === 'priced' || at === 'wallet'
  const heard = () => {
    for (const { key } of state.value.asked.filter(isUnpaid)) adopt(key)
  }

  return {
    get state() {
      return state.value
    },
    subscribe: state.subscribe,
    load,

    /** Goes on with what was asked before the page was left. Returns what stops it. */
    start(): () => void {
      end = new AbortController()
      void load()
      change({
        asked: visit.questions().map((kept) => ({
          ...kept,
          isResumed: true,
          stage: kept.isFailed
            ? { at: 'failed', text: '', problem: null, isPaid: kept.payment !== null, spent: kept.spent ?? null }
            : { at: kept.payment === null ? 'asking' : 'waiting' },
        })),
      })
      for (const { key, isFailed } of state.value.asked) if (!isFailed) void send(key)
      addEventListener('storage', heard)
      const mine = end
      return () => {
        removeEventListener('storage', heard)
        mine.abort()
      }
    },

    ask(message: string): void {
      const kept = { key: uuid(), message, payment: null, isFailed: false }
      visit.keep(kept)
      put({ ...kept, isResumed: false, stage: { at: 'asking' } })
      void send(kept.key)
    },

    async pay(key: string, payer: Payer): Promise<void> {
      const asked = find(key)
      if (asked?.stage.at !== 'priced' || adopt(key)) return
      const { offer } = asked.stage
      const waiting: Stage = { at: 'wallet', offer, name: payer.name }
      show(key, waiting)
      const isWaiting = () => find(key)?.stage === waiting && !end.signal.aborted
      try {
        const payment = await payer.sign(offer)
        if (!isWaiting()) return
        if (adopt(key)) return
        const kept = { ...keptOf(asked), payment }
        visit.keep(kept)
        put({ ...asked, ...kept, stage: { at: 'paying' } })
        await send(key)
      } catch (problem) {
        if (isWaiting()) show(key, { at: 'priced', offer, problem })
      }
    },

    /** Waits for the wallet no longer: what it signs later is not sent. */
    leaveWallet(key: string): void {
      const asked = find(key)
      if (asked?.stage.at === 'wallet') show(key, { at: 'priced', offer: asked.stage.offer, problem: null })
    },

    /** Asks again for an answer that failed, with the payment that it has. */
    async retry(key: string): Promise<void> {
      const asked = find(key)
      if (asked?.stage.at !== 'failed') return
      const kept = { ...keptOf(asked), isFailed: false }
      visit.keep(kept)
      put({ ...asked, ...kept, stage: { at: kept.payment === null ? 'asking' : 'paying' } })
      await send(key)
    },

    drop,
  }
}
export type PaidChat = ReturnType<typeof paidChat>

const keptOf = ({ key, message, payment, isFailed }: Asked): KeptQuestion => ({ key, message, payment, isFailed })

/** What was said, without the question that is still asked: the history may have it already. */
export function saidBefore({ said, asked }: PaidChat['state']): readonly Said[] {
  const at = said?.findLastIndex(({ role }) => role === 'user') ?? -1
  const isAsked = asked.some(({ isResumed, message }) => isResumed && message === said?.[at]?.content)
  return (isAsked ? said?.slice(0, at) : said) ?? []
}
