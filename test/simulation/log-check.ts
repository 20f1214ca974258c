import { verifyChain } from '#server/log/index'
import type { RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Ledger } from './ledger.ts'
import { editedTo, keys, kindOf, sentAt, slowOf, suspensionKey, versionOf } from './product.ts'

/** Checks each row as it is stored: one order without a gap, and no row that the rows before it forbid. */
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

  /** Checks that a node has the whole log once the faults have ended. */
  follows(room: RoomKey, seq: number): void {
    if (seq !== this.#ledger.log(room).length) this.#note('a node did not catch up')
  }

  #order(row: Row, before: Row | undefined): void {
    const counts = row.type === 'message.created'
    const total = (before?.total ?? 0) + (counts ? 1 : 0)
    if (row.seq !== (before?.seq ?? 0) + 1) this.#note('seq is not dense')
    if (before && row.epoch !== before.epoch) this.#note('the epoch changed')
    if (row.at < (before?.at ?? 0)) this.#note('time ran back')
    if (row.total !== total || row.n !== (counts ? total : null)) this.#note('wrong ordinal')
    if (verifyChain([row], before?.chain ?? '')) this.#note('the chain does not verify')
    if (this.#ledger.storedAt(row.room, row.sender, row.cid) !== undefined) this.#note('stored twice')
  }

  #permission(row: Row): void {
    const { room, sender, at } = row
    const kind = kindOf(row)
    if (kind !== 'message' && kind !== 'edit') return
    if (this.#is(room, keys.ban(sender))) this.#note('a banned one wrote')
    else if (!this.#is(room, keys.member(sender))) this.#note('an outsider wrote')
    const [slow, last] = [
      slowOf(this.#ledger.now(room, keys.rules)),
      sentAt(this.#ledger.now(room, keys.clock(sender))),
    ]
    if (kind === 'message' && last !== null && at - last < slow) this.#note('slow mode broken')
  }

  #once(row: Row): void {
    const { room, sender, target, body } = row
    const kind = kindOf(row)
    if (kind === 'ban' && this.#is(room, keys.ban(target ?? ''))) this.#note('banned twice')
    if (kind === 'suspend' && this.#is(room, suspensionKey(target ?? ''))) this.#note('suspended twice')
    if (kind === 'join' && this.#is(room, keys.member(sender))) this.#note('joined twice')
    if (kind === 'join' && this.#is(room, keys.ban(sender))) this.#note('a banned one joined')
    if (kind !== 'edit') return
    const version = versionOf(this.#ledger.now(room, keys.message(String(body.id))))
    if (editedTo(row) !== version + 1) this.#note('edited from an older version')
  }

  #is(room: RoomKey, key: string): boolean {
    return this.#ledger.now(room, key) !== null
  }
}
