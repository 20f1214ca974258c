import type { Model, Part, Question } from '#server/ports/model/port'

/** An answer that a test gives word by word. */
export interface PuppetAnswer {
  question: Question
  signal: AbortSignal
  say(...texts: string[]): void
  /** Takes back so many of the last code units. */
  unsay(length: number): void
  /** Names a page of the web that the answer rests on. */
  cite(url: string, title: string): void
  end(reason?: 'stop' | 'length' | 'filtered'): void
  fail(error: Error): void
}

/** A model that says what a test tells it to, when the test tells it to. */
export function puppetModel() {
  const asked: PuppetAnswer[] = []
  const waiting: ((answer: PuppetAnswer) => void)[] = []
  const model: Model = {
    name: 'puppet',
    isScripted: true,
    async *answer(question, signal) {
      const parts: (Part | Error)[] = []
      let wake: () => void = () => undefined
      const push = (part: Part | Error) => {
        parts.push(part)
        wake()
      }
      const answer: PuppetAnswer = {
        question,
        signal,
        say: (...texts) => {
          for (const text of texts) push({ type: 'text', text })
        },
        unsay: (length) => push({ type: 'unsaid', length }),
        cite: (url, title) => push({ type: 'source', url, title }),
        end: (reason = 'stop') => push({ type: 'end', reason, inputTokens: 3, outputTokens: 5 }),
        fail: push,
      }
      const next = waiting.shift()
      if (next) next(answer)
      else asked.push(answer)
      signal.addEventListener('abort', () => wake())
      for (;;) {
        signal.throwIfAborted()
        const part = parts.shift()
        if (part instanceof Error) throw part
        if (part) yield part
        if (part?.type === 'end') return
        if (parts.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve
            if (signal.aborted || parts.length > 0) resolve()
          })
      }
    },
  }
  return {
    model,
    /** The next question that the model is asked. */
    asked: (): Promise<PuppetAnswer> => {
      const first = asked.shift()
      return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}
