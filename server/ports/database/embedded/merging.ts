import { openIndex, sortKey } from './indexes.ts'
import { TREE_BYTES } from './keys.ts'
import type { Range, Sort } from './plan.ts'
import type { Slot } from './storage.ts'
import type { Document } from './values.ts'

export function* joined(slots: Iterable<Slot>[]): Generator<Slot> {
  for (const each of slots) yield* each
}

/** Merges ranges that are each in order, by their keys from each range's offset on. */
export function* merged(slots: Iterable<Slot>[], ranges: readonly Range[], reverse: boolean): Generator<Slot> {
  const heads = slots.flatMap((each, at) => {
    const slot = each[Symbol.iterator]()
    const head = slot.next()
    return head.done ? [] : [{ slot, head: head.value, offset: TREE_BYTES + (ranges[at]?.offset ?? 0) }]
  })
  while (heads.length > 0) {
    const next = heads.reduce((best, each) => {
      const order = Buffer.compare(each.head.key.subarray(each.offset), best.head.key.subarray(best.offset))
      return (reverse ? order > 0 : order < 0) ? each : best
    })
    yield next.head
    const head = next.slot.next()
    if (head.done) heads.splice(heads.indexOf(next), 1)
    else next.head = head.value
  }
}

/**
 * Merges the documents found in a collection with pending ones, in the requested order. A document that is stored while the
 * reader pauses comes once.
 */
export function* together<T extends { document: Document }>(
  found: Iterable<T | undefined>,
  waiting: readonly T[],
  sort: Sort,
): Generator<T | undefined, undefined> {
  const index = Object.keys(sort).length > 0 ? openIndex({ tree: 0, name: 'sort', key: sort }) : null
  const keyOf = ({ document }: T): Buffer => (index ? sortKey(index, document) : LAST)
  const rest = waiting.map((each) => ({ each, key: keyOf(each) }))
  rest.sort((one, other) => Buffer.compare(one.key, other.key))
  const unseen = new Set(waiting.map(({ document }) => document._id))
  const wasUnseen = ({ document }: T): boolean => unseen.delete(document._id)
  const ids = new Set(unseen)
  for (const each of found) {
    if (each && index) {
      const key = keyOf(each)
      for (let [next] = rest; next && Buffer.compare(next.key, key) < 0; [next] = rest) {
        if (wasUnseen(next.each)) yield next.each
        rest.shift()
      }
    }
    if (!each || !ids.has(each.document._id) || wasUnseen(each)) yield each
  }
  for (const { each } of rest) if (wasUnseen(each)) yield each
}

const LAST = Buffer.of(0xff)
