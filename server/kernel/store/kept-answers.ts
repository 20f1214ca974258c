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

/**
 * A cache of derived values, each with the stamp of its source; a new stamp makes it anew. The longest unused are
 * removed first. Stamps are read before their source, so a value is never older than its stamp.
 */
export function createStampedCache<Value>(most: number) {
  const kept = new Map<string, { stamp: string; value: Value }>()
  const keep = (key: string, stamp: string, value: Value) => {
    kept.delete(key)
    kept.set(key, { stamp, value })
  }
  return {
    async of(
      stamps: ReadonlyMap<string, string>,
      make: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
    ): Promise<Map<string, Value>> {
      const values = new Map<string, Value>()
      const missing: string[] = []
      for (const [key, stamp] of stamps) {
        const known = kept.get(key)
        if (known?.stamp !== stamp) missing.push(key)
        else {
          keep(key, stamp, known.value)
          values.set(key, known.value)
        }
      }
      if (missing.length === 0) return values
      for (const [key, value] of await make(missing)) {
        keep(key, stamps.get(key) ?? '', value)
        values.set(key, value)
      }
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break
        kept.delete(oldest)
      }
      return values
    },
    forget: (key: string) => void kept.delete(key),
    forgetAll: () => kept.clear(),
  }
}

/** A map of limited size whose entries expire; the oldest are removed first. */
export function briefMemory<T>(most: number) {
  const kept = new Map<string, { value: T; until: number }>()
  return {
    get(key: string): T | undefined {
      const one = kept.get(key)
      return one && one.until > performance.now() ? one.value : undefined
    },
    set(key: string, value: T, milliseconds: number): void {
      kept.delete(key)
      kept.set(key, { value, until: performance.now() + milliseconds })
      if (kept.size <= most) return
      const [oldest = ''] = kept.keys()
      kept.delete(oldest)
    },
    delete(key: string): void {
      kept.delete(key)
    },
  }
}
