import { conjuncts, type Filter, isSamePath } from './filter.ts'
import { type Index, implied, openIndex, sortKey } from './indexes.ts'
import { encodeKey, fitBound, TREE_BYTES } from './keys.ts'
import type { Slot } from './storage.ts'
import { type Document, rank, type Value } from './values.ts'

/** Ranges of keys of one index (or, without one, all documents) that hold every match. */
export interface Scan {
  index: Index | null
  ranges: Range[]
  reverse: boolean
  /** Read as listed, or merged by key from this byte of each range, or in no useful order. */
  order: 'listed' | 'merged' | 'none'
}
export interface Range {
  low: Buffer
  high: Buffer
  /** Where the keys of this range begin to differ in a way that the order asked for depends on. */
  offset: number
  /** The range is this one key. */
  exact: boolean
}
export type Sort = Record<string, 1 | -1>

const MOST_RANGES = 10_000
const MOST_MERGED = 500
/** The score of a scan that finds one document at most for each of its points. */
const EXACT = 100
const NOTHING = Buffer.alloc(0)
const AFTER = Buffer.of(0xff)

/** The scans whose union holds every match: one, or one for each branch of an `$or`. */
export function plan(filter: Filter, sort: Sort, indexes: readonly Index[]): Scan[] {
  const conditions = conjuncts(filter)
  const best = bestScan(conditions, sort, indexes)
  const branches = best.index ? undefined : conditions.find((each) => each.op === '$or')
  if (branches?.op !== '$or') return [best]
  const scans = branches.filters.map((branch) => bestScan([...conditions, ...conjuncts(branch)], {}, indexes))
  return scans.every(({ index }) => index) ? scans.map((scan) => ({ ...scan, order: 'none' as const })) : [best]
}

function bestScan(conditions: readonly Filter[], sort: Sort, indexes: readonly Index[]): Scan {
  const sorted = Object.keys(sort).length > 0
  const all: Scan = {
    index: null,
    ranges: [{ low: NOTHING, high: AFTER, offset: 0, exact: false }],
    reverse: false,
    order: sorted ? 'none' : 'listed',
  }
  let bestScore = 0
  let scan = () => all
  for (const index of indexes) {
    if (bestScore >= EXACT || !implied(index.partial, conditions)) continue
    const candidate = scanOf(index, conditions, sort)
    if (candidate.score > bestScore) [scan, bestScore] = [candidate.scan, candidate.score]
  }
  return scan()
}

function scanOf(index: Index, conditions: readonly Filter[], sort: Sort): { scan: () => Scan; score: number } {
  const points: Value[][] = []
  for (const path of index.paths) {
    const values = isShadowed(index, points.length) ? undefined : pointsOf(path, conditions)
    if (!values || points.reduce((product, each) => product * each.length, values.length) > MOST_RANGES) break
    points.push(values)
  }
  const whole = points.length === index.paths.length
  const range = whole || isShadowed(index, points.length) ? undefined : rangeOf(index, points.length, conditions)
  const { order, reverse, skipped } = orderOf(index, points, sort)
  const ordered = order !== 'none' && Object.keys(sort).length > 0
  const score = points.length * 10 + (range ? 5 : 0) + (whole && index.record.unique ? EXACT : 0) + (ordered ? 8 : 0)
  return { scan: () => ({ index, ranges: rangesOf(index, points, range, skipped, reverse), reverse, order }), score }
}

const LONGEST_PLAIN = 200

/** A value whose key is its own alone, and is never cut. */
function isPlain(value: Value): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_PLAIN
  return typeof value === 'boolean' || (typeof value === 'number' && !Number.isNaN(value))
}

/** Do the ranges of this scan hold the keys of matches only, so that no document must be read? */
export function isExact({ index }: Scan, filter: Filter): boolean {
  if (!index || index.record.cut) return false
  const conditions = conjuncts(filter)
  const left = new Set(conditions)
  let points = 1
  for (const [at, path] of index.paths.entries()) {
    const here = conditions.filter((each) => 'path' in each && isSamePath(each.path, path))
    const [only] = here
    if (!only || isShadowed(index, at)) break
    const values = here.length > 1 ? [] : only.op === '$eq' ? [only.value] : only.op === '$in' ? only.values : []
    points *= values.length
    if (points > 0 && points <= MOST_RANGES && values.every(isPlain)) {
      left.delete(only)
      continue
    }
    // What is no number comes before all numbers, so that only a lower bound leaves it out.
    const bounds = here.filter((each) => 'value' in each && each.op !== '$eq' && isPlain(each.value))
    const isBounded = bounds.length === here.length && bounds.some(({ op }) => op === '$gt' || op === '$gte')
    if (isBounded && !index.record.multikey) for (const each of bounds) left.delete(each)
    break
  }
  return left.size === 0
}

/** Two paths into the same array are met by different items, so that only the first may bound the scan. */
function isShadowed(index: Index, at: number): boolean {
  return index.record.multikey === true && index.paths.slice(0, at).some((path) => path[0] === index.paths[at]?.[0])
}

function pointsOf(path: string[], conditions: readonly Filter[]): Value[] | undefined {
  for (const each of conditions) {
    if (!('path' in each) || !isSamePath(each.path, path)) continue
    if (each.op === '$eq' && !Array.isArray(each.value)) return [each.value]
    if (each.op === '$in' && !each.values.some(Array.isArray)) return each.values
  }
  return undefined
}

interface Bound {
  bytes: Buffer
  after: boolean
}

/** On an array each bound may be met by another item, so that only one of them counts. */
function rangeOf(index: Index, at: number, conditions: readonly Filter[]): { low: Bound; high: Bound } | undefined {
  const path = index.paths[at] ?? []
  let low: Bound | undefined
  let high: Bound | undefined
  for (const each of conditions) {
    if (!('value' in each) || each.op === '$eq' || !isSamePath(each.path, path)) continue
    if (index.record.multikey && (low || high)) continue
    const bytes = encodeKey([each.value], [1])
    const bracket = rank(each.value)
    const atLeast: Bound = { bytes: Buffer.of(bracket - 1), after: true }
    const below: Bound = { bytes: Buffer.of(bracket + 1), after: false }
    const isLow = each.op === '$gt' || each.op === '$gte'
    const given: Bound = { bytes, after: each.op === '$gt' || each.op === '$lte' }
    const ends = isLow ? { low: given, high: below } : { low: atLeast, high: given }
    if (!low || place(ends.low, low) > 0) low = ends.low
    if (!high || place(ends.high, high) < 0) high = ends.high
  }
  return low && high ? { low, high } : undefined
}

const edge = ({ bytes, after }: Bound): Buffer => (after ? Buffer.concat([bytes, AFTER]) : bytes)
const place = (one: Bound, other: Bound): number => Buffer.compare(edge(one), edge(other))

/** Can the index give the order asked for, and from which component on must its keys be compared? */
function orderOf(index: Index, points: Value[][], sort: Sort): Pick<Scan, 'order' | 'reverse'> & { skipped: number } {
  const wanted = Object.entries(sort)
  if (wanted.length === 0) return { order: 'listed', reverse: false, skipped: 0 }
  const none = { order: 'none' as const, reverse: false, skipped: 0 }
  if (index.record.multikey || index.record.cut) return none
  let next = 0
  let skipped = 0
  let reverse: boolean | undefined
  for (const [at, path] of index.paths.entries()) {
    const [name, direction] = wanted[next] ?? []
    if (name === path.join('.')) {
      const backwards = direction !== index.directions[at]
      if (reverse !== undefined && backwards !== reverse && points[at]?.length !== 1) return none
      if (points[at]?.length !== 1) reverse = backwards
      next++
    } else if (points[at]?.length === 1) {
      if (next === 0) skipped = at + 1
    } else if (next === 0 && points[at]) {
      skipped = at + 1
    } else break
  }
  while (next < wanted.length && isFixed(wanted[next]?.[0], index, points)) next++
  if (next < wanted.length) return none
  const count = points.reduce((product, values) => product * values.length, 1)
  if (count > MOST_MERGED) return none
  return { order: count > 1 ? 'merged' : 'listed', reverse: reverse ?? false, skipped }
}

function isFixed(name: string | undefined, index: Index, points: Value[][]): boolean {
  return index.paths.some((path, at) => path.join('.') === name && points[at]?.length === 1)
}

function rangesOf(
  index: Index,
  points: Value[][],
  range: { low: Bound; high: Bound } | undefined,
  skipped: number,
  reverse: boolean,
): Range[] {
  const isUnique = index.record.unique === true && points.length === index.paths.length
  const downwards = index.directions[points.length] === -1
  const low = range ? (downwards ? inverted(range.high) : edge(range.low)) : NOTHING
  const high = range ? (downwards ? inverted(range.low) : edge(range.high)) : AFTER
  const ranges = product(points).map((values) => {
    const prefix = encodeKey(values, index.directions)
    const offset = skipped === 0 ? 0 : encodeKey(values.slice(0, skipped), index.directions).length
    const start = fitBound(Buffer.concat([prefix, low]), 'low')
    const end = fitBound(Buffer.concat([prefix, high]), 'high')
    return { low: start, high: end, offset, exact: isUnique && start.length === prefix.length }
  })
  if (ranges.length < 2) return ranges
  ranges.sort((one, other) => Buffer.compare(one.low, other.low))
  const once = ranges.filter(({ low }, at) => at === 0 || !low.equals(ranges[at - 1]?.low ?? NOTHING))
  return reverse ? once.reverse() : once
}

function inverted({ bytes, after }: Bound): Buffer {
  const turned = Buffer.from(bytes.map((byte) => ~byte & 0xff))
  return after ? turned : Buffer.concat([turned, AFTER])
}

function product(points: Value[][]): Value[][] {
  return points.reduce<Value[][]>((rows, values) => rows.flatMap((row) => values.map((value) => [...row, value])), [[]])
}

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
