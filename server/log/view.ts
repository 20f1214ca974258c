import { createHash } from 'node:crypto'
import { type Facts, factAfter, type KnownFact, type ResolvedFact } from './facts.ts'
import type { Rules } from './policy.ts'
import { type Entry, type Fact, type Projection, ROW_VERSION, type RoomKey, type Row, type View } from './types.ts'

type Hashed = Pick<
  Row,
  '_id' | 'v' | 'room' | 'seq' | 'at' | 'type' | 'sender' | 'target' | 'until' | 'reason' | 'body'
>

/** The hash of version 2 and later covers the whole row. */
export function chainOf(previous: string, row: Hashed): string {
  const { _id, v, room, seq, at, type, sender, target, until, reason, body } = row
  const versioned = v < 2 ? [] : [v, body]
  const content = JSON.stringify(
    [previous, _id, room, seq, at, type, sender, target, until, reason, ...versioned],
    asStored,
  )
  return createHash('sha256').update(content).digest('base64url')
}

/** The value as either store returns it. */
function asStored(_name: string, value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** Seals a row from which a person was erased. It keeps its hash for later rows, and gets one of what is left. */
export const sealErased = (row: Row): Row => (row.chained ? { ...row, erased: chainOf(row.chain, row) } : row)

/** Is the row as it was appended, or as an erasure left it? */
const isWhole = (previous: string, row: Row): boolean => {
  if (!row.chained) return row.chain === previous
  return row.erased === undefined ? row.chain === chainOf(previous, row) : row.erased === chainOf(row.chain, row)
}

/** The first row whose hash does not follow, or null. The rows are all rows, or the chained ones alone. */
export function verifyChain(rows: readonly Row[], previous: string): Row | null {
  for (const row of rows) {
    if (!isWhole(previous, row)) return row
    previous = row.chain
  }
  return null
}

/** The room as of the last row applied. */
export class LiveView implements View {
  readonly room: RoomKey
  readonly facts: Facts
  readonly #global: LiveView | null
  readonly #seq = risingNumber()
  epoch = ''
  total = 0
  at = 0
  chain = ''

  constructor(room: RoomKey, facts: Facts, global: LiveView | null) {
    this.room = room
    this.facts = facts
    this.#global = global
  }

  get seq(): number {
    return this.#seq.at
  }

  get global(): LiveView {
    return this.#global ?? this
  }

  get(key: string): Fact {
    const known = this.facts.get(key)
    if (!known)
      throw new Error(`The fact ${key} of ${this.room} is not in memory; only a judgement or a question loads facts.`)
    return known.value
  }

  ageOf(key: string): number {
    return this.facts.ageOf(key)
  }

  /** Rows after this seq are applied. */
  startAt(epoch: string, seq: number): void {
    this.epoch = epoch
    this.#seq.raise(seq)
  }

  moveTo(row: Row): void {
    this.epoch = row.epoch
    this.#seq.raise(row.seq)
    this.total = row.total
    this.at = row.at
    this.chain = row.chain
  }
}

interface Context {
  projection: Projection
  newId: () => string
  policy: Pick<Rules, 'inDraft'>
}

/** A view with the rows of a turn, before they are stored. It records the requested facts that are not in memory. */
export class Draft implements View {
  readonly room: RoomKey
  readonly missing = new Set<string>()
  readonly #base: LiveView
  readonly #global: Draft | null
  readonly #overlay = new Map<string, KnownFact>()
  epoch: string
  seq: number
  total: number
  at: number
  chain: string

  constructor(base: LiveView) {
    this.#base = base
    this.#global = base.global === base ? null : new Draft(base.global)
    this.room = base.room
    this.epoch = base.epoch
    this.seq = base.seq
    this.total = base.total
    this.at = base.at
    this.chain = base.chain
  }

  get global(): Draft {
    return this.#global ?? this
  }

  get(key: string): Fact {
    const known = this.#known(key)
    if (!known) this.missing.add(key)
    return known ? known.value : null
  }

  ageOf(key: string): number {
    return this.#overlay.has(key) ? 0 : this.#base.facts.ageOf(key)
  }

  isComplete(): boolean {
    return this.missing.size === 0 && this.global.missing.size === 0
  }

  /** Adds a row to the draft; null if a fact that it changes is missing. */
  append(
    entry: Entry,
    sender: string,
    cid: string,
    at: number,
    context: Context,
  ): { row: Row; changes: ResolvedFact[] } | null {
    const row = this.#rowOf(entry, sender, cid, at, context)
    const changes: ResolvedFact[] = []
    for (const change of context.projection.changes(row)) {
      const after = factAfter(this.#known(change.key), change, row)
      if (after) changes.push({ key: change.key, value: after.value, row })
      else this.missing.add(change.key)
    }
    context.projection.rewrites?.(row)
    if (!this.isComplete()) return null
    for (const { key, value } of context.policy.inDraft(changes)) this.#overlay.set(key, { value, seq: row.seq })
    this.epoch = row.epoch
    this.seq = row.seq
    this.total = row.total
    this.at = at
    this.chain = row.chain
    return { row, changes }
  }

  #known(key: string): KnownFact | undefined {
    return this.#overlay.get(key) ?? this.#base.facts.get(key)
  }

  #rowOf(entry: Entry, sender: string, cid: string, at: number, { projection, newId }: Context): Row {
    const seq = this.seq + 1
    const total = this.total + (projection.isMessage(entry.type) ? 1 : 0)
    const row: Row = {
      _id: newId(),
      v: ROW_VERSION,
      room: this.room,
      seq,
      epoch: this.epoch || newId(),
      type: entry.type,
      n: total > this.total ? total : null,
      total,
      sender,
      cid,
      body: entry.body,
      target: entry.target ?? null,
      until: entry.until ?? null,
      reason: entry.reason ?? null,
      at,
      chain: this.chain,
      chained: !entry.isUnlisted && projection.isChained(entry.type),
      applied_seq: seq,
    }
    if (row.chained) row.chain = chainOf(this.chain, row)
    return row
  }
}

/** A number that only rises: `raise` is its only setter. */
export interface RisingNumber {
  readonly at: number
  /** Sets the number, unless it is higher already. */
  raise(to: number): void
}

export function risingNumber(start = 0): RisingNumber {
  let at = start
  return {
    get at() {
      return at
    },
    raise(to) {
      if (to > at) at = to
    },
  }
}
