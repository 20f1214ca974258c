import type { Change, Fact, Row } from './types.ts'

export interface KnownFact {
  value: Fact
  /** The last row that went into it. */
  seq: number
  /** Since when this node has held it, by `Clock.elapsed`. */
  since?: number
}

export type Resolved = { key: string; value: Fact; row: Row }

// Above what one turn of 512 acts may need at once.
const generationFacts = 4_096

/** The facts of a room in memory. Those not asked for while two generations pass are forgotten, except the ones always held. */
export class Facts {
  readonly #always: ReadonlySet<string>
  readonly #elapsed: () => number
  readonly #held = new Map<string, KnownFact>()
  #young = new Map<string, KnownFact>()
  #old = new Map<string, KnownFact>()

  constructor(always: readonly string[], elapsed: () => number) {
    this.#always = new Set(always)
    this.#elapsed = elapsed
  }

  /** Milliseconds for which this node has held the fact as it is; 0 where it does not. */
  ageOf(key: string): number {
    const now = this.#elapsed()
    return now - (this.get(key)?.since ?? now)
  }

  get(key: string): KnownFact | undefined {
    const found = this.#young.get(key) ?? this.#held.get(key)
    if (found) return found
    const old = this.#old.get(key)
    if (old) this.set(key, old)
    return old
  }

  set(key: string, given: KnownFact): void {
    const fact = given.since === undefined ? { ...given, since: this.#elapsed() } : given
    if (this.#always.has(key)) {
      this.#held.set(key, fact)
      return
    }
    this.#young.set(key, fact)
    if (this.#young.size < generationFacts) return
    this.#old = this.#young
    this.#young = new Map()
  }

  /** Lets go of a fact that was found to be absent. */
  forgetAbsent(key: string): void {
    if (this.get(key)?.value !== null) return
    for (const facts of [this.#held, this.#young, this.#old]) facts.delete(key)
  }
}

/** What a row makes of the facts, each known value in its turn; all of it or, where it cannot be applied, nothing. */
export function resolve(
  changes: readonly Change[],
  row: Row,
  known: (key: string) => KnownFact | undefined,
): { key: string; fact: KnownFact }[] {
  return changes.flatMap((change) => {
    const fact = changed(known(change.key), change, row)
    return fact ? [{ key: change.key, fact }] : []
  })
}

/** The fact as it is after this row, or undefined where that does not follow from what is known. */
export function changed(before: KnownFact | undefined, change: Change, row: Row): KnownFact | undefined {
  if (before && before.seq >= row.seq) return before
  if ('value' in change) return { value: change.value, seq: row.seq }
  return before && { value: change.patch(before.value), seq: row.seq }
}
