import { randomUUID } from 'node:crypto'
import { smtpSink } from '#test/support/smtp'
import { call } from '#test/support/wallet'

/** Checks jobs, which run after the answer: each email that a server accepted to send arrives, and no other. */
export class Letters {
  readonly #asked = new Set<string>()
  readonly #sink: Awaited<ReturnType<typeof smtpSink>>

  private constructor(sink: Awaited<ReturnType<typeof smtpSink>>) {
    this.#sink = sink
  }

  static async open(): Promise<Letters> {
    return new Letters(await smtpSink())
  }

  get url(): string {
    return this.#sink.url
  }

  /** Requests emails from a node; those that it accepted must arrive. */
  async ask(url: string, count: number): Promise<void> {
    for (let asked = 0; asked < count; asked++) {
      const email = `${randomUUID()}@example.com`
      const answer = await call(url, 'POST /api/email/login/send-code', { email }).catch(() => null)
      if (answer?.status === 200) this.#asked.add(email)
    }
  }

  get promised(): number {
    return this.#asked.size
  }

  owed(): string[] {
    const come = new Set(this.#sink.letters.flatMap(({ to }) => to))
    return [...this.#asked].filter((email) => !come.has(email))
  }

  /** A repeated copy of one email counts once; two different emails for one request are a fault. */
  doubled(): string[] {
    const ids = new Map<string, Set<string>>()
    for (const { to, headers } of this.#sink.letters)
      for (const email of to) ids.set(email, (ids.get(email) ?? new Set()).add(headers['message-id'] ?? ''))
    return [...this.#asked].filter((email) => (ids.get(email)?.size ?? 0) > 1)
  }

  close(): Promise<void> {
    return this.#sink.close()
  }
}
