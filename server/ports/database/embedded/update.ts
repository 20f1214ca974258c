import { refuse, serverError } from './errors.ts'
import { equalities, type Filter, isOperators, matches, parseFilter } from './filter.ts'
import { compare } from './keys.ts'
import {
  checkId,
  checkName,
  copy,
  type Document,
  type Fields,
  identical,
  isFields,
  type Missing,
  rank,
  type Value,
} from './values.ts'

/** Changes one value; gives back the same value where nothing changes. */
type Change = (before: Value | Missing, document: Document) => Value | Missing
interface Step {
  path: string[]
  op: string
  change: Change
}
export type Update = readonly Step[]

export function parseUpdate(update: unknown): Update {
  if (Array.isArray(update)) return refuse('an update by pipeline')
  if (!isOperators(update)) return refuse('an update without operators')
  const steps = Object.entries(update).flatMap(([op, fields]) => {
    if (typeof fields !== 'object' || fields === null)
      throw serverError(9, `Modifiers operate on fields but we found type ${typeName(fields)} instead.`)
    return Object.entries(fields).map(([name, operand]) => ({
      path: parsePath(name),
      op,
      change: parseChange(op, name, operand),
    }))
  })
  steps.sort((one, other) => comparePaths(one.path, other.path))
  checkConflicts(steps)
  return steps
}

/** Changes the document in place and tells whether it is another now. `$setOnInsert` counts for a new document alone. */
export function applyUpdate(update: Update, document: Document, isNew: boolean): boolean {
  let changed = false
  for (const { path, op, change } of update) {
    if (op === '$setOnInsert' && !isNew) continue
    const id = document._id
    if (changeAt(document, path, op, (before) => change(before, document))) changed = true
    if (!isNew && document._id !== id)
      throw serverError(66, "Performing an update on the path '_id' would modify the immutable field '_id'")
  }
  return changed
}

/** Sets a field of a document that is being put together by an upsert. */
function seed(document: Fields, path: string[], value: Value): void {
  changeAt(document, path, '$set', () => value)
}

function parsePath(name: string): string[] {
  const path = name.split('.')
  for (const field of path) {
    if (field === '')
      throw serverError(56, `The update path '${name}' contains an empty field name, which is not allowed.`)
    checkName(field)
  }
  return path
}

/** Fields change in the order of their names, array indexes in the order of their numbers. */
function comparePaths(one: string[], other: string[]): number {
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const [left = '', right = ''] = [one[at], other[at]]
    if (left === right) continue
    if (isIndex(left) && isIndex(right)) return Number(left) - Number(right)
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  }
  return one.length - other.length
}

const isIndex = (field: string): boolean => /^(0|[1-9]\d*)$/.test(field)

function checkConflicts(steps: Step[]): void {
  for (let at = 1; at < steps.length; at++) {
    const before = steps[at - 1]?.path ?? []
    const path = steps[at]?.path ?? []
    if (!before.every((field, depth) => path[depth] === field)) continue
    throw serverError(40, `Updating the path '${path.join('.')}' would create a conflict at '${before.join('.')}'`)
  }
}

function parseChange(op: string, name: string, operand: unknown): Change {
  switch (op) {
    case '$set':
    case '$setOnInsert':
      return setTo(copy(operand))
    case '$unset':
      return () => undefined
    case '$inc':
      return increment(name, copy(operand))
    case '$min':
    case '$max':
      return extreme(copy(operand), op === '$min' ? -1 : 1)
    case '$push':
      return push(name, operand)
    case '$addToSet':
      return addToSet(name, operand)
    case '$pull':
      return pull(operand)
    default:
      return refuse(`the update operator ${op}`)
  }
}

const setTo =
  (value: Value): Change =>
  (before) =>
    before !== undefined && identical(before, value) ? before : value

function increment(name: string, by: Value): Change {
  if (typeof by !== 'number')
    throw serverError(14, `Cannot increment with non-numeric argument: {${name}: ${shown(by)}}`)
  return (before, { _id }) => {
    if (before === undefined) return by
    if (typeof before === 'number') return before + by
    const field = name.split('.').at(-1)
    throw serverError(
      14,
      `Cannot apply $inc to a value of non-numeric type. {_id: ${shown(_id)}} has the field '${field}' of non-numeric type ${typeName(before)}`,
    )
  }
}

const extreme =
  (value: Value, direction: 1 | -1): Change =>
  (before) =>
    before === undefined || compare(value, before) * direction > 0 ? value : before

function push(name: string, operand: unknown): Change {
  const { items, slice } = parseItems('$push', operand, ['$each', '$slice'])
  return (before, { _id }) => {
    if (before !== undefined && !Array.isArray(before)) {
      throw serverError(
        2,
        `The field '${name}' must be an array but is of type ${typeName(before)} in document {_id: ${shown(_id)}}`,
      )
    }
    const array = [...(before ?? []), ...items]
    const kept = slice === undefined ? array : slice < 0 ? array.slice(slice) : array.slice(0, slice)
    return before && identical(before, kept) ? before : kept
  }
}

function addToSet(name: string, operand: unknown): Change {
  const { items } = parseItems('$addToSet', operand, ['$each'])
  return (before) => {
    if (before !== undefined && !Array.isArray(before)) {
      throw serverError(
        2,
        `Cannot apply $addToSet to non-array field. Field named '${name.split('.').at(-1)}' has non-array type ${typeName(before)}`,
      )
    }
    const array = [...(before ?? [])]
    for (const item of items) if (!array.some((each) => identical(each, item))) array.push(item)
    return before && array.length === before.length ? before : array
  }
}

function parseItems(op: string, operand: unknown, known: string[]): { items: Value[]; slice: number | undefined } {
  if (!isOperators(operand)) return { items: [copy(operand)], slice: undefined }
  const unknown = Object.keys(operand).find((name) => !known.includes(name))
  if (unknown) return refuse(`${unknown} in ${op}`)
  const { $each, $slice } = operand
  if (!Array.isArray($each))
    throw serverError(
      op === '$push' ? 2 : 14,
      `The argument to $each in ${op} must be an array but it was of type ${typeName(copy($each))}`,
    )
  if ($slice !== undefined && !Number.isInteger($slice))
    throw serverError(2, 'The value for $slice must be an integer value')
  return { items: $each.map((item) => copy(item)), slice: $slice === undefined ? undefined : Number($slice) }
}

function pull(operand: unknown): Change {
  const unwanted = parsePull(operand)
  return (before) => {
    if (before === undefined) return undefined
    if (!Array.isArray(before)) throw serverError(2, 'Cannot apply $pull to a non-array value')
    const kept = before.filter((item) => !unwanted(item))
    return kept.length === before.length ? before : kept
  }
}

function parsePull(operand: unknown): (item: Value) => boolean {
  if (isOperators(operand) && !['$and', '$or', '$nor'].some((name) => name in operand)) {
    const filter = parseFilter({ item: operand })
    return (item) => matches(filter, { item })
  }
  if (operand !== null && typeof operand === 'object' && isPlain(operand)) {
    const filter: Filter = parseFilter(operand)
    return (item) => isFields(item) && matches(filter, item)
  }
  const value = copy(operand)
  return (item) => compare(item, value) === 0
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

function changeAt(
  document: Fields,
  path: string[],
  op: string,
  change: (before: Value | Missing) => Value | Missing,
): boolean {
  let parent: Fields | Value[] = document
  for (let depth = 0; depth < path.length - 1; depth++) {
    const field = path[depth] ?? ''
    checkStep(parent, path, depth, op)
    let next = read(parent, field)
    if (next === undefined) {
      if (op === '$unset' || op === '$pull') return false
      next = {}
      write(parent, field, next)
    }
    if (!isFields(next) && !Array.isArray(next)) {
      if (op === '$unset') return false
      throw notViable(path[depth + 1] ?? '', field, next)
    }
    parent = next
  }
  return changeLast(parent, path, op, change)
}

function changeLast(
  parent: Fields | Value[],
  path: string[],
  op: string,
  change: (before: Value | Missing) => Value | Missing,
): boolean {
  const field = path.at(-1) ?? ''
  if (Array.isArray(parent) && !isIndex(field) && op === '$unset') return false
  checkStep(parent, path, path.length - 1, op)
  const before = read(parent, field)
  const after = change(before)
  if (Object.is(before, after)) return false
  if (after !== undefined) write(parent, field, after)
  else if (Array.isArray(parent)) parent[Number(field)] = null
  else delete parent[field]
  return true
}

function checkStep(parent: Fields | Value[], path: string[], depth: number, op: string): void {
  const field = path[depth] ?? ''
  if (!Array.isArray(parent) || isIndex(field) || op === '$unset' || op === '$pull') return
  throw notViable(field, path[depth - 1] ?? '', parent)
}

const notViable = (field: string, element: string, value: Value) =>
  serverError(28, `Cannot create field '${field}' in element {${element}: ${shown(value)}}`)

function read(parent: Fields | Value[], field: string): Value | Missing {
  if (Array.isArray(parent)) return isIndex(field) ? parent[Number(field)] : undefined
  return Object.hasOwn(parent, field) ? parent[field] : undefined
}

function write(parent: Fields | Value[], field: string, value: Value): void {
  if (!Array.isArray(parent)) {
    parent[field] = value
    return
  }
  const index = Number(field)
  if (index > parent.length + 1_500_000) throw serverError(2, `can't backfill more than 1500000 elements`)
  while (parent.length < index) parent.push(null)
  parent[index] = value
}

const shown = (value: Value): string => JSON.stringify(value)

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'double'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  const ranked = rank(copy(value))
  return ranked === 25 ? 'array' : ranked === 45 ? 'date' : ranked === 30 ? 'binData' : 'object'
}

/** What an upsert inserts: the equalities of its filter, as its update changes them. */
export function seeded(filter: Filter, update: Update): Document {
  const fields: Fields = {}
  const equal = equalities(filter).sort(([one], [other]) =>
    Buffer.compare(Buffer.from(one.join('.')), Buffer.from(other.join('.'))),
  )
  for (const [at, [path, value]] of equal.entries()) {
    const clash = equal
      .slice(0, at)
      .some(
        ([other]) =>
          other.every((field, depth) => path[depth] === field) || path.every((field, depth) => other[depth] === field),
      )
    if (clash) throw serverError(54, `cannot infer query fields to set, path '${path.join('.')}' is matched twice`)
    seed(fields, path, value)
  }
  const { _id, ...rest } = fields
  const document = { ...(_id === undefined ? {} : { _id }), ...rest } as Document
  applyUpdate(update, document, true)
  const id = checkId(document._id)
  if (_id !== undefined && id !== _id)
    throw serverError(66, "Performing an update on the path '_id' would modify the immutable field '_id'")
  return Object.assign({ _id: id }, document)
}
