import type { Change, Fact, Row } from './types.ts'

export interface KnownFact {
  value: Fact
  /** The seq of the last row applied to it. */
  seq: number
  /** When this node got the value, by `Clock.elapsed`. */
  since?: number
}

export type ResolvedFact = { key: string; value: Fact; row: Row }

// More facts than one turn of 512 acts can need at once.
const generationFacts = 4_096

/** The facts of a room in memory. A fact unused for two generations is dropped, unless the view always holds it. */
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

  /** Milliseconds since this node got the present value; 0 if it has none. */
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

  /** Replaces values that an erasure has changed in the store. Null drops a fact, so that it is loaded anew. */
  replace(change: (key: string, value: Fact) => { value: Fact } | null): void {
    for (const facts of [this.#held, this.#young, this.#old])
      for (const [key, fact] of facts) {
        const next = change(key, fact.value)
        if (next) facts.set(key, { ...fact, value: next.value })
        else if (!this.#always.has(key)) facts.delete(key)
      }
  }

  /** Drops a fact that was cached as absent. */
  forgetAbsent(key: string): void {
    if (this.get(key)?.value !== null) return
    for (const facts of [this.#held, this.#young, this.#old]) facts.delete(key)
  }
}

/** The facts after a row, each with its own previous value; it throws if one change cannot be applied. */
export function resolveFacts(
  changes: readonly Change[],
  row: Row,
  known: (key: string) => KnownFact | undefined,
): { key: string; fact: KnownFact }[] {
  return changes.flatMap((change) => {
    const fact = factAfter(known(change.key), change, row)
    return fact ? [{ key: change.key, fact }] : []
  })
}

/** The fact after this row; undefined if the previous value is needed and unknown. */
export function factAfter(before: KnownFact | undefined, change: Change, row: Row): KnownFact | undefined {
  if (before && before.seq >= row.seq) return before
  if ('value' in change) return { value: change.value, seq: row.seq }
  return before && { value: change.patch(before.value), seq: row.seq }
}
