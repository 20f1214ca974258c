import type { Row } from './types.ts'

/** The last rows of a room, without a gap, with an index by idempotency key. */
export class RowRing {
  #rows: Row[] = []
  #seqOf = new Map<string, number>()

  /** The seq before the oldest row in memory. */
  get floor(): number {
    const first = this.#rows[0]
    return first ? first.seq - 1 : 0
  }

  get length(): number {
    return this.#rows.length
  }

  push(row: Row): void {
    this.#rows.push(row)
    this.#seqOf.set(actKeyOf(row.sender, row.cid), row.seq)
  }

  at(seq: number): Row | undefined {
    return this.#rows[seq - this.floor - 1]
  }

  find(key: string): Row | undefined {
    const seq = this.#seqOf.get(key)
    return seq === undefined ? undefined : this.at(seq)
  }

  after(seq: number, limit = Number.POSITIVE_INFINITY): Row[] {
    const start = Math.max(0, seq - this.floor)
    return this.#rows.slice(start, start + limit)
  }

  /** Changes all rows that it can, then throws the first failure. */
  rewrite(event: Row, change: (row: Row) => Row): void {
    const failures: unknown[] = []
    for (const [index, row] of this.#rows.entries()) {
      if (row.seq >= event.seq || row.applied_seq >= event.seq) continue
      try {
        const after = change(row)
        if (after !== row) this.#rows[index] = { ...after, applied_seq: event.seq }
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Puts other rows in the place of those that an erasure has changed in the store. */
  replace(change: (row: Row) => Row): void {
    this.#rows = this.#rows.map(change)
    this.#seqOf = new Map(this.#rows.map((row) => [actKeyOf(row.sender, row.cid), row.seq]))
  }

  /** Removes the rows up to this seq. */
  trim(seq: number): void {
    for (const row of this.#rows.splice(0, seq - this.floor)) this.#seqOf.delete(actKeyOf(row.sender, row.cid))
  }
}

export function actKeyOf(sender: string, cid: string): string {
  return `${sender}\n${cid}`
}
