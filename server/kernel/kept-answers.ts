interface Bounds<Answer> {
  /** How long an answer is good. */
  secondsOf(answer: Answer): number
  weightOf(answer: Answer): number
  /** How much is kept of all answers together; the oldest go first. */
  mostWeight: number
  now?: () => number
}

interface Kept<Answer> {
  answer: Answer
  at: number
  weight: number
}

export interface Answered<Answer> {
  answer: Answer
  /** How old it is. */
  ageSeconds: number
}

/**
 * A cache of answers by their question. Simultaneous calls share one request. A failure is not kept, and leaves the answer
 * before it as it is.
 */
export function keepAnswers<Answer>({
  secondsOf,
  weightOf,
  mostWeight,
  now = () => performance.now(),
}: Bounds<Answer>) {
  const kept = new Map<string, Kept<Answer>>()
  const asked = new Map<string, Promise<Kept<Answer>>>()
  let weight = 0

  const entryOf = (answer: Answer): Kept<Answer> => ({ answer, at: now(), weight: 1 + weightOf(answer) })

  function keep(question: string, answer: Answer): Kept<Answer> {
    drop(question)
    const entry = entryOf(answer)
    kept.set(question, entry)
    weight += entry.weight
    for (const oldest of kept.keys()) {
      if (weight <= mostWeight) break
      drop(oldest)
    }
    return entry
  }

  function drop(question: string): void {
    weight -= kept.get(question)?.weight ?? 0
    kept.delete(question)
  }

  function askOnce(question: string, ask: () => Promise<Answer>): Promise<Kept<Answer>> {
    const running = asked.get(question)
    if (running) return running
    const isForgotten = (): boolean => asked.get(question) !== answering
    const answering: Promise<Kept<Answer>> = ask()
      .then((answer) => (isForgotten() ? entryOf(answer) : keep(question, answer)))
      .finally(() => isForgotten() || asked.delete(question))
    asked.set(question, answering)
    return answering
  }

  return {
    /** The answer to a question, no older than it is good and, where that is less, than `atMostSeconds`. */
    async of(
      question: string,
      ask: () => Promise<Answer>,
      atMostSeconds = Number.POSITIVE_INFINITY,
    ): Promise<Answered<Answer>> {
      const known = kept.get(question)
      const isGood = known && now() - known.at < Math.min(secondsOf(known.answer), atMostSeconds) * 1_000
      const { answer, at } = isGood ? known : await askOnce(question, ask)
      return { answer, ageSeconds: Math.floor((now() - at) / 1_000) }
    },
    /** Also what is being asked just now: it is answered to who asked, and not kept. */
    forget(question: string): void {
      drop(question)
      asked.delete(question)
    },
    size: () => kept.size,
  }
}
