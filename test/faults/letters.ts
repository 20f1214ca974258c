import { randomUUID } from 'node:crypto'
import { smtpSink } from '#test/support/smtp'
import { call } from '#test/support/wallet'

/** Work that a server does after its answer: each letter that it says it sends comes, and no other one instead of it. */
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

  /** Asks a node for so many; those that it promised are owed. */
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

  /** The same letter twice is the same letter; two letters for one promise are one too many. */
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
