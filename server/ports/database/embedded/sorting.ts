import { openIndex, sortKey } from './indexes.ts'
import type { Sort } from './plan.ts'
import type { Document } from './values.ts'

/** Items that are sorted at once, in about a millisecond. */
const RUN = 1000

interface Keyed<T> {
  each: T
  key: Buffer
}

/** As MongoDB sorts: an array counts as its least item upwards and its greatest downwards. At most so many are wanted. */
export function* sorted<T extends { document: Document }>(
  found: Iterable<T | undefined>,
  sort: Sort,
  most: number,
): Generator<T | undefined, undefined> {
  const index = openIndex({ tree: 0, name: 'sort', key: sort })
  const runs: Keyed<T>[][] = []
  let run: Keyed<T>[] = []
  const endRun = () => {
    run.sort((one, other) => Buffer.compare(one.key, other.key))
    runs.push(run.slice(0, most))
    run = []
  }
  for (const each of found) {
    if (each) run.push({ each, key: sortKey(index, each.document) })
    if (run.length === RUN) endRun()
    yield
  }
  if (run.length > 0) endRun()
  yield* merge(runs)
}

/** Equal items come in the order of their runs. */
function* merge<T>(runs: readonly Keyed<T>[][]): Generator<T, undefined> {
  const heap: { run: Iterator<Keyed<T>>; at: number; head: Keyed<T> }[] = []
  const isBefore = (one: number, other: number): boolean => {
    const [left, right] = [heap[one], heap[other]]
    if (!left || !right) return left !== undefined
    return (Buffer.compare(left.head.key, right.head.key) || left.at - right.at) < 0
  }
  const sink = (from: number): void => {
    const [left, right] = [2 * from + 1, 2 * from + 2]
    const least = isBefore(right, left) ? right : left
    const [upper, lower] = [heap[from], heap[least]]
    if (!upper || !lower || !isBefore(least, from)) return
    heap[from] = lower
    heap[least] = upper
    sink(least)
  }
  for (const [at, items] of runs.entries()) {
    const run = items[Symbol.iterator]()
    const head = run.next()
    if (!head.done) heap.push({ run, at, head: head.value })
  }
  for (let at = heap.length - 1; at >= 0; at--) sink(at)
  for (let top = heap[0]; top; top = heap[0]) {
    yield top.head.each
    const next = top.run.next()
    const last = next.done ? heap.pop() : undefined
    if (!next.done) top.head = next.value
    else if (last && heap.length > 0) heap[0] = last
    sink(0)
  }
}
