import { verifyChain } from '#server/log/index'
import type { Fact, RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Ledger } from './ledger.ts'

/** Each row as it is stored: one order without a gap, and nothing that the rows before it forbid. */
export class LogCheck {
  readonly #ledger: Ledger
  readonly #note: Note

  constructor(ledger: Ledger, note: Note) {
    this.#ledger = ledger
    this.#note = note
  }

  stored(row: Row, at: number): void {
    const before = this.#ledger.log(row.room).at(-1)
    this.#order(row, before)
    this.#permission(row)
    this.#once(row)
    this.#ledger.take(row, at)
  }

  /** With everything healed a node has the whole log. */
  follows(room: RoomKey, seq: number): void {
    if (seq !== this.#ledger.log(room).length) this.#note('a node did not catch up')
  }

  #order(row: Row, before: Row | undefined): void {
    const counts = row.type === 'message'
    const total = (before?.total ?? 0) + (counts ? 1 : 0)
    if (row.seq !== (before?.seq ?? 0) + 1) this.#note('seq is not dense')
    if (before && row.epoch !== before.epoch) this.#note('the epoch changed')
    if (row.at < (before?.at ?? 0)) this.#note('time ran back')
    if (row.total !== total || row.n !== (counts ? total : null)) this.#note('wrong ordinal')
    if (verifyChain([row], before?.chain ?? '')) this.#note('the chain does not verify')
    if (this.#ledger.storedAt(row.room, row.sender, row.cid) !== undefined) this.#note('stored twice')
  }

  #permission({ room, type, sender, at }: Row): void {
    if (type !== 'message' && type !== 'edit') return
    if (this.#is(room, `ban:${sender}`)) this.#note('a banned one wrote')
    else if (!this.#is(room, `member:${sender}`)) this.#note('an outsider wrote')
    const [slow, last] = [this.#ledger.now(room, 'slow'), this.#ledger.now(room, `last:${sender}`)]
    const isTooSoon = typeof slow === 'number' && typeof last === 'number' && at - last < slow
    if (type === 'message' && isTooSoon) this.#note('slow mode broken')
  }

  #once({ room, type, sender, target, body }: Row): void {
    if (type === 'ban' && this.#is(room, `ban:${target}`)) this.#note('banned twice')
    if (type === 'suspend' && this.#is(room, `suspended:${target}`)) this.#note('suspended twice')
    if (type === 'join' && this.#is(room, `member:${sender}`)) this.#note('joined twice')
    if (type === 'join' && this.#is(room, `ban:${sender}`)) this.#note('a banned one joined')
    if (type !== 'edit') return
    const version = versionOf(this.#ledger.now(room, `text:${target}`))
    if (!`${body.text}`.endsWith(` ${version + 1}`)) this.#note('edited from an older version')
  }

  #is(room: RoomKey, key: string): boolean {
    return this.#ledger.now(room, key) !== null
  }
}

export function versionOf(value: Fact): number {
  const version = value && typeof value === 'object' && 'version' in value ? value.version : 1
  return typeof version === 'number' ? version : 1
}
