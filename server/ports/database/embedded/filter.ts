import { refuse } from './errors.ts'
import { compare } from './keys.ts'
import { checkName, copy, fieldOf, isFields, isScalar, type Missing, rank, type Value } from './values.ts'

type Comparison = '$eq' | '$gt' | '$gte' | '$lt' | '$lte'
export type Filter =
  | { op: '$and' | '$or' | '$nor'; filters: Filter[] }
  | { op: Comparison; path: string[]; value: Value }
  | { op: '$in'; path: string[]; values: Value[]; texts: ReadonlySet<Value> }
  | { op: '$exists'; path: string[] }
  | { op: '$elemMatch'; path: string[]; element: Filter; whole: boolean }

export function parseFilter(filter: unknown): Filter {
  if (filter === undefined || filter === null) return { op: '$and', filters: [] }
  if (typeof filter !== 'object') return refuse(`a filter of type ${typeof filter}`)
  const filters = Object.entries(filter).flatMap(([name, condition]): Filter[] => {
    if (name === '$and' || name === '$or' || name === '$nor') return [{ op: name, filters: parseList(name, condition) }]
    if (name.startsWith('$')) return refuse(`the query operator ${name}`)
    return parseField(parsePath(name), condition)
  })
  return and(filters)
}

/** The path of a filter, an index or a sort. */
export function parsePath(name: string): string[] {
  const path = name.split('.')
  for (const field of path) {
    checkName(field)
    if (field === '' || /^\d+$/.test(field)) refuse(`the path ${JSON.stringify(name)} in a filter, an index or a sort`)
  }
  return path
}

export const isSamePath = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((field, at) => field === other[at])

const and = (filters: Filter[]): Filter => (filters.length === 1 && filters[0] ? filters[0] : { op: '$and', filters })
const not = (filter: Filter): Filter => ({ op: '$nor', filters: [filter] })
const among = (path: string[], values: Value[]): Filter => ({ op: '$in', path, values, texts: new Set(values) })

function parseList(op: string, list: unknown): Filter[] {
  return Array.isArray(list) && list.length > 0
    ? list.map((each) => parseFilter(each))
    : refuse(`${op} without a list of filters`)
}

function parseField(path: string[], condition: unknown): Filter[] {
  if (!isOperators(condition)) return [{ op: '$eq', path, value: operand('$eq', condition) }]
  return Object.entries(condition).map(([op, value]) => parseOperator(path, op, value))
}

/** Operators by name; an object with other fields is a value. */
export function isOperators(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(value)[0]?.startsWith('$') === true
}

function parseOperator(path: string[], op: string, value: unknown): Filter {
  switch (op) {
    case '$eq':
      return { op, path, value: operand(op, value) }
    case '$ne':
      return not({ op: '$eq', path, value: operand(op, value) })
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return { op, path, value: bound(op, value) }
    case '$in':
      return among(path, operands(op, value))
    case '$nin':
      return not(among(path, operands(op, value)))
    case '$exists':
      return value ? { op, path } : not({ op, path })
    case '$elemMatch':
      return parseElement(path, value)
    default:
      return refuse(`the query operator ${op}`)
  }
}

function parseElement(path: string[], condition: unknown): Filter {
  if (typeof condition !== 'object' || condition === null) return refuse('an $elemMatch without conditions')
  const op = Object.keys(condition)[0] ?? ''
  const whole = op.startsWith('$') && !['$and', '$or', '$nor'].includes(op)
  const element = whole ? and(parseField([], condition)) : parseFilter(condition)
  return { op: '$elemMatch', path, element, whole }
}

function operand(op: string, given: unknown): Value {
  const value = copy(given)
  const parts = Array.isArray(value) ? value : [value]
  return parts.every(isScalar) ? value : refuse(`${op} with an object or binary value`)
}

function operands(op: string, given: unknown): Value[] {
  return Array.isArray(given) ? given.map((value) => operand(op, value)) : refuse(`${op} without a list`)
}

function bound(op: string, given: unknown): Value {
  const value = operand(op, given)
  return value === null || Array.isArray(value) ? refuse(`${op} with ${value === null ? 'null' : 'an array'}`) : value
}

export function matches(filter: Filter, document: Value): boolean {
  switch (filter.op) {
    case '$and':
      return filter.filters.every((each) => matches(each, document))
    case '$or':
      return filter.filters.some((each) => matches(each, document))
    case '$nor':
      return !filter.filters.some((each) => matches(each, document))
    case '$eq':
      return some(filter.path, document, (value) => equals(value, filter.value))
    case '$in':
      return some(filter.path, document, (value) =>
        typeof value === 'string' ? filter.texts.has(value) : filter.values.some((each) => equals(value, each)),
      )
    case '$exists':
      return some(filter.path, document, (value) => value !== undefined)
    case '$elemMatch':
      return some(filter.path, document, (value, whole) => whole && Array.isArray(value) && hasElement(filter, value))
    default:
      return some(filter.path, document, (value) => inRange(filter.op, value, filter.value))
  }
}

function hasElement(filter: Filter & { op: '$elemMatch' }, array: Value[]): boolean {
  return array.some((item) =>
    filter.whole ? matches(filter.element, item) : isFields(item) && matches(filter.element, item),
  )
}

/** Follows a path as MongoDB does: into objects of arrays, and over items of an array at its end. */
function some(
  path: string[],
  document: Value,
  test: (value: Value | Missing, whole: boolean) => boolean,
  at = 0,
): boolean {
  if (path.length === 0) return test(document, true)
  let value: Value | Missing = document
  for (let depth = at; depth < path.length; depth++) {
    if (Array.isArray(value)) {
      return value.some((item) => isFields(item) && some(path, item, test, depth))
    }
    value = fieldOf(value, path[depth] ?? '')
  }
  if (Array.isArray(value) && value.some((item) => test(item, false))) return true
  return test(value, true)
}

function equals(value: Value | Missing, wanted: Value): boolean {
  if (value === wanted) return true
  if (value === undefined || wanted === null || typeof wanted !== 'object') {
    return wanted === null
      ? value === undefined || value === null
      : typeof wanted === 'number' && Object.is(value, wanted)
  }
  return value !== null && rank(value) === rank(wanted) && compare(value, wanted) === 0
}

export function inRange(op: Filter['op'], value: Value | Missing, limit: Value): boolean {
  if (value === undefined || rank(value) !== rank(limit)) return false
  const either = Number.isNaN(value) || Number.isNaN(limit)
  if (either) return Object.is(value, limit) && (op === '$gte' || op === '$lte')
  const order = compare(value, limit)
  return op === '$gt' ? order > 0 : op === '$gte' ? order >= 0 : op === '$lt' ? order < 0 : order <= 0
}

/** The conditions that all hold, `$and` within `$and` taken apart. */
export function conjuncts(filter: Filter): Filter[] {
  return filter.op === '$and' ? filter.filters.flatMap(conjuncts) : [filter]
}

/** The fields an upsert takes from its filter: those with one value only. */
export function equalities(filter: Filter): [string[], Value][] {
  return conjuncts(filter).flatMap((each): [string[], Value][] => {
    if (each.op === '$eq') return [[each.path, each.value]]
    const only = each.op === '$in' && each.values.length === 1 ? each.values[0] : undefined
    if (each.op === '$in' && only !== undefined) return [[each.path, only]]
    const single = each.op === '$or' && each.filters.length === 1 ? each.filters[0] : undefined
    return single ? equalities(single) : []
  })
}
