import { TREE_BYTES } from './keys.ts'
import type { Range } from './plan.ts'
import type { Slot } from './storage.ts'

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
