interface Bounds<Answer> {
  /** The lifetime of an answer. */
  secondsOf(answer: Answer): number
  weightOf(answer: Answer): number
  /** The maximum weight of all answers; the oldest are removed first. */
  mostWeight: number
  now?: () => number
}

interface Kept<Answer> {
  answer: Answer
  at: number
  weight: number
}

export interface CachedAnswer<Answer> {
  answer: Answer
  ageSeconds: number
}

/**
 * A cache of answers. Simultaneous calls share one request. A failure is not cached, and leaves the previous answer.
 */
export function createAnswerCache<Answer>({
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
    /** The answer to a question, no older than its lifetime and `atMostSeconds`. */
    async of(
      question: string,
      ask: () => Promise<Answer>,
      atMostSeconds = Number.POSITIVE_INFINITY,
    ): Promise<CachedAnswer<Answer>> {
      const known = kept.get(question)
      const isGood = known && now() - known.at < Math.min(secondsOf(known.answer), atMostSeconds) * 1_000
      const { answer, at } = isGood ? known : await askOnce(question, ask)
      return { answer, ageSeconds: Math.floor((now() - at) / 1_000) }
    },
    /** Removes an answer. A request in progress is answered, but not cached. */
    forget(question: string): void {
      drop(question)
      asked.delete(question)
    },
    size: () => kept.size,
  }
}
