import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { paymentOf } from '#test/support/payments'
import { linesOf, wallet } from '#test/support/wallet'
import type { History, Paid } from './history.ts'
import type { Random } from './random.ts'
import type { Place } from './sender.ts'

const answerMilliseconds = 6_000
const retryMilliseconds = 300

/** A payment is good for five attempts: after as many lost answers it gets the last of them for ever. */
const mostLost = 5

/** What says that the payment is not good, which it is. */
const refusal = /^40[^89]/

const Answered = z.object({ message: z.string() })
const Line = z.object({ type: z.string(), message: z.string().optional() })
const Coded = z.object({ code: z.string().optional() })

/** Somebody without an account who pays for answers, and asks again with the same payment until it is answered. */
export class Payer {
  readonly name: string
  readonly #agent: string
  readonly #payee: string
  readonly #doors: () => readonly string[]
  readonly #history: History
  readonly #random: Random
  #asked = 0
  #isStopped = false
  #isGivenUp = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(name: string, sold: { agent: string; payee: string }, { doors, history, random }: Place) {
    this.name = name
    this.#agent = sold.agent
    this.#payee = sold.payee
    this.#doors = doors
    this.#history = history
    this.#random = random
  }

  start(): void {
    this.#running = this.#keepPaying()
  }

  /** Pays no more, and waits for what was paid for. */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopped = true
    await Promise.race([this.#running, pause(milliseconds)])
    this.#isGivenUp = true
  }

  async #keepPaying(): Promise<void> {
    while (!this.#isStopped) {
      await this.#pay()
      await pause(500 * this.#random.next())
    }
  }

  async #pay(): Promise<void> {
    const payer = wallet(`faults ${this.name}`)
    const payment = await paymentOf(payer, { to: this.#payee })
    const message = `${this.name}-${++this.#asked} asks`
    const note = (what: Pick<Paid, 'type'> & Partial<Paid>) => {
      const about = { op: 'pay', room: '', payer: payer.address.toLowerCase(), nonce: nonceOf(payment) } as const
      this.#history.add({ t: this.#history.now(), proc: this.name, ...about, ...what })
    }
    for (let lost = 0; lost <= mostLost && !this.#isGivenUp; ) {
      note({ type: 'invoke' })
      const { answer, outcome } = await this.#ask(message, payment)
      if (answer !== null) return note({ type: 'ok', answer, outcome })
      note({ type: refusal.test(outcome) ? 'fail' : 'info', outcome })
      if (/RUN_LOST|^200/.test(outcome)) lost++
      await pause(retryMilliseconds)
    }
  }

  async #ask(message: string, payment: string): Promise<{ answer: string | null; outcome: string }> {
    const doors = this.#doors()
    const door = doors[Math.floor(this.#random.next() * doors.length)] ?? ''
    const stream = this.#random.next() < 0.3
    try {
      const answer = await fetch(`${door}/api/public/agents/${this.#agent}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-payment': payment },
        body: JSON.stringify({ message, stream }),
        signal: AbortSignal.timeout(answerMilliseconds),
      })
      const outcome = `${answer.status}`
      if (answer.status !== 200)
        return { answer: null, outcome: `${outcome} ${Coded.parse(await answer.json()).code ?? ''}` }
      return { answer: stream ? await lastOf(answer) : Answered.parse(await answer.json()).message, outcome }
    } catch {
      return { answer: null, outcome: 'none' }
    }
  }
}

/** The answer that the last line tells; null where it does not. */
async function lastOf(answer: Response): Promise<string | null> {
  let message: string | null = null
  for await (const line of linesOf(answer)) message = Line.parse(JSON.parse(line)).message ?? null
  return message
}

const Envelope = z.object({ payload: z.object({ authorization: z.object({ nonce: z.string() }) }) })
const nonceOf = (payment: string) =>
  Envelope.parse(JSON.parse(Buffer.from(payment, 'base64').toString())).payload.authorization.nonce.toLowerCase()
