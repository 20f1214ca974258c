import { checkOptions, refuse, serverError } from './errors.ts'
import { conjuncts, type Filter, inRange, isSamePath, matches, parseFilter, parsePath } from './filter.ts'
import { compare, emptyArray, encodeEntry, encodeKey, type Part, ROW_BYTES } from './keys.ts'
import { type Document, type Fields, fieldOf, identical, isScalar, type Missing, type Value } from './values.ts'

/** An index as it is kept in the catalog. */
export interface IndexRecord {
  tree: number
  name: string
  key: Record<string, 1 | -1>
  unique?: true
  partialFilterExpression?: Fields
  expireAfterSeconds?: number
  /** Some document has held an array in an indexed path. */
  multikey?: true
  /** Some key was too long and is cut, so the order cannot be relied on. */
  cut?: true
}

export interface Index {
  record: IndexRecord
  paths: string[][]
  directions: (1 | -1)[]
  partial: Filter | null
}
export interface Entry {
  /** As stored, except the row's number if rows share values. */
  key: Buffer
  parts: Part[]
}
export interface Entries {
  entries: Entry[]
  multikey: boolean
  cut: boolean
}

export function openIndex(record: IndexRecord): Index {
  const { key, partialFilterExpression } = record
  const partial = partialFilterExpression ? parseFilter(partialFilterExpression) : null
  return { record, paths: Object.keys(key).map(parsePath), directions: Object.values(key), partial }
}

export function parseIndex(spec: unknown, options: object = {}): Omit<IndexRecord, 'tree'> {
  checkOptions('createIndex', options, [
    'name',
    'unique',
    'partialFilterExpression',
    'expireAfterSeconds',
    'background',
  ])
  const key = parseDirections(spec, 'an index')
  const { name, unique, partialFilterExpression, expireAfterSeconds } = options as Record<string, unknown>
  const seconds = expireAfterSeconds ?? undefined
  if (seconds !== undefined && (typeof seconds !== 'number' || Object.keys(key).length > 1)) {
    throw serverError(67, 'TTL indexes are single-field indexes, compound indexes do not support TTL')
  }
  const partial = partialFilterExpression ?? undefined
  if (partial !== undefined) checkPartial(parseFilter(partial))
  return {
    name: typeof name === 'string' ? name : Object.entries(key).flat().join('_'),
    key,
    ...(unique ? { unique: true as const } : {}),
    ...(partial === undefined ? {} : { partialFilterExpression: partial as Fields }),
    ...(seconds === undefined ? {} : { expireAfterSeconds: seconds }),
  }
}

/** An index as the driver describes it. */
export function shownIndex({ tree: _, multikey: __, cut: ___, unique, ...shown }: IndexRecord) {
  return { v: 2, ...shown, ...(unique && shown.name !== '_id_' ? { unique } : {}) }
}

/** The key of an index or of a sort: paths with 1 or -1. */
export function parseDirections(spec: unknown, what: string): Record<string, 1 | -1> {
  const entries =
    typeof spec === 'string'
      ? [[spec, 1]]
      : spec instanceof Map || Array.isArray(spec)
        ? [...spec]
        : Object.entries(spec ?? {})
  const pairs = entries.map((entry): [string, 1 | -1] => {
    const [name, direction] = typeof entry === 'string' ? [entry, 1] : entry
    parsePath(String(name))
    if (['1', 'asc', 'ascending'].includes(String(direction))) return [String(name), 1]
    if (['-1', 'desc', 'descending'].includes(String(direction))) return [String(name), -1]
    return refuse(`the direction ${JSON.stringify(direction)} of ${what}`)
  })
  return Object.fromEntries(pairs)
}

function checkPartial(filter: Filter): void {
  for (const each of conjuncts(filter)) {
    if (each.op === '$nor' || each.op === '$or' || each.op === '$elemMatch')
      refuse(`${each.op} (or a negation) in a partialFilterExpression`)
  }
}

/** The values at a path, the items of arrays taken one by one. */
export function valuesAt(path: string[], document: Document): Value[] {
  const rows = spread([{ value: document, path }], { key: {} })
  return rows.flatMap(([part]) => (part === undefined || part === emptyArray ? [] : [part]))
}

/** The least of a document's keys, which is its position in a sort. */
export function sortKey(index: Index, document: Document): Buffer {
  const keys = spread(
    index.paths.map((path) => ({ value: document, path })),
    index.record,
  )
  return keys
    .map((parts) => encodeKey(parts, index.directions))
    .reduce((least, key) => (Buffer.compare(key, least) < 0 ? key : least))
}

/** The entries of a document, each once. Of several array paths, all must run through the same array. */
export function entriesOf(index: Index, document: Document): Entries {
  if (index.partial && !matches(index.partial, document)) return { entries: [], multikey: false, cut: false }
  const scalars = scalarsOf(index.paths, document)
  if (scalars) {
    const { key, cut } = keyOf(index, scalars)
    return { entries: [{ key, parts: scalars }], multikey: false, cut }
  }
  const rows = spread(
    index.paths.map((path) => ({ value: document, path })),
    index.record,
  )
  let cut = false
  const entries = rows.map((parts) => {
    const made = keyOf(index, parts)
    cut ||= made.cut
    return { key: made.key, parts }
  })
  return { entries: entries.length > 1 ? distinct(entries) : entries, multikey: rows.multikey, cut }
}

/** A unique index holds one row a key; in any other the row is part of the key. */
export function entryKey({ record }: Index, { key }: Entry, row: Buffer): Buffer {
  if (!record.unique) row.copy(key, key.length - ROW_BYTES)
  return key
}

const keyOf = ({ record, directions }: Index, parts: readonly Part[]) =>
  encodeEntry(record.tree, parts, directions, record.unique === true)

/** The values of an index on top-level fields alone, where none of them holds others. */
function scalarsOf(paths: readonly string[][], document: Document): Part[] | null {
  const parts: Part[] = []
  for (const [name, further] of paths) {
    const value = name === undefined || further !== undefined ? null : fieldOf(document, name)
    if (further !== undefined || (value !== undefined && !isScalar(value))) return null
    parts.push(value)
  }
  return parts
}

function distinct(entries: Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [entry.key.toString('latin1'), entry])).values()]
}

interface Cursor {
  value: Value | Missing
  path: readonly string[]
  /** Set once the value is an item of the array, whose own items are no entries. */
  item?: true
}

function spread(cursors: Cursor[], record: Pick<IndexRecord, 'key'>): Part[][] & { multikey: boolean } {
  const walked = cursors.map(walk)
  const arrays = new Set(walked.filter(isSpread).map(({ value }) => value))
  if (arrays.size > 1) throw serverError(171, `cannot index parallel arrays [${Object.keys(record.key).join('] [')}]`)
  const [array] = arrays
  if (!Array.isArray(array)) return Object.assign([walked.map(({ value }) => value)], { multikey: false })
  const items = array.length > 0 ? array : [undefined]
  const rows = items.flatMap((item) => {
    const inner = walked.map((cursor): Cursor => (isSpread(cursor) ? { ...cursor, value: item, item: true } : cursor))
    if (array.length > 0) return spread(inner, record)
    return [
      walked.map(
        (cursor): Part =>
          isSpread(cursor) && cursor.path.length === 0 ? emptyArray : isSpread(cursor) ? undefined : cursor.value,
      ),
    ]
  })
  return Object.assign(rows, { multikey: true })
}

const isSpread = (cursor: Cursor): boolean => Array.isArray(cursor.value) && !(cursor.item && cursor.path.length === 0)

/** Follows the path to its end or to the first array. */
function walk(cursor: Cursor): Cursor {
  let { value, path } = cursor
  if (cursor.item && Array.isArray(value)) return path.length === 0 ? cursor : { value: undefined, path: [] }
  while (path.length > 0 && !Array.isArray(value)) {
    value = fieldOf(value, path[0] ?? '')
    path = path.slice(1)
    if (path.length === 0) return cursor.item && !Array.isArray(value) ? { value, path, item: true } : { value, path }
  }
  return { ...cursor, value, path }
}

/** Does every document that matches the conditions match the partial filter? May say no where it is so. */
export function implied(partial: Filter | null, conditions: readonly Filter[]): boolean {
  return !partial || conjuncts(partial).every((each) => conditions.some((condition) => implies(condition, each)))
}

function implies(given: Filter, wanted: Filter): boolean {
  if (!('path' in wanted)) return false
  const negated = given.op === '$nor' && given.filters.length === 1 ? given.filters[0] : undefined
  // On a path into an array of nothing but scalars, or of nothing, neither null nor any value is found.
  if (negated)
    return (
      wanted.op === '$exists' &&
      wanted.path.length === 1 &&
      negated.op === '$eq' &&
      negated.value === null &&
      isSamePath(negated.path, wanted.path)
    )
  if (!('path' in given) || !isSamePath(given.path, wanted.path)) return false
  if (given.op === '$in') return given.values.length > 0 && given.values.every((value) => impliesValue(value, wanted))
  if (given.op === '$eq') return impliesValue(given.value, wanted)
  if (given.op === '$exists' || given.op === '$elemMatch') return wanted.op === '$exists'
  return (
    wanted.op === '$exists' ||
    (wanted.op === given.op && identical(wanted.value, given.value)) ||
    contains(wanted, given)
  )
}

function impliesValue(value: Value, wanted: Filter): boolean {
  if (wanted.op === '$exists') return value !== null
  if (wanted.op === '$eq') return identical(value, wanted.value)
  if (wanted.op === '$in') return wanted.values.some((each) => identical(value, each))
  return 'value' in wanted && inRange(wanted.op, value, wanted.value)
}

/** Is the range `inner` within the range `outer`, both open on the same side? */
function contains(outer: Filter, inner: Filter): boolean {
  if (!('value' in outer) || !('value' in inner) || outer.op.slice(0, 3) !== inner.op.slice(0, 3)) return false
  const strict = inRange(outer.op.slice(0, 3) as Filter['op'], inner.value, outer.value)
  return strict || (compare(inner.value, outer.value) === 0 && (outer.op === inner.op || outer.op.length === 4))
}

/** What an index is asked to be. */
export type Definition = Omit<IndexRecord, 'tree'>

/** What tells two indexes on the same key apart. */
const signatureOf = ({ key, unique, partialFilterExpression }: Definition): string =>
  JSON.stringify([Object.entries(key), unique, partialFilterExpression])

export const isSame = (one: Definition, other: Definition): boolean =>
  Object.keys(one.key).join() === '_id' && Object.keys(other.key).join() === '_id'
    ? true
    : one.name === other.name &&
      signatureOf(one) === signatureOf(other) &&
      one.expireAfterSeconds === other.expireAfterSeconds

export function checkNames(indexes: readonly Index[], given: Definition): void {
  for (const { record } of indexes) {
    const same = signatureOf(record) === signatureOf(given)
    if (same) throw serverError(85, `Index already exists with a different name or options: ${record.name}`)
    if (record.name === given.name)
      throw serverError(86, `An existing index has the same name as the requested index: ${given.name}`)
  }
}
