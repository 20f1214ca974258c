import mongoose from 'mongoose'
import { refuse, serverError } from './errors.ts'

const { Binary } = mongoose.mongo
type Binary = InstanceType<typeof Binary>
type Scalar = null | boolean | number | string | Date
export type Value = Scalar | Binary | Value[] | Fields
export interface Fields {
  [field: string]: Value
}
export interface Document extends Fields {
  _id: string
}
export type Missing = undefined

export const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value !== 'object' || isDate(value)
export const isDate = (value: unknown): value is Date => value instanceof Date
export const isBinary = (value: unknown): value is Binary => value instanceof Binary
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isDate(value) && !isBinary(value)

/** The value of an own field: inherited names such as `constructor` are missing. */
export const fieldOf = (value: Value | Missing, name: string): Value | Missing =>
  isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** Levels of objects and arrays within one another, the document itself among them. */
const DEEPEST = 100
const LARGEST = 16_777_216
/** No document is eight times as long in BSON as it is here. */
const SURELY_FITS = LARGEST / 8

const tooDeep = () => serverError(15, `The document has more than ${DEEPEST} levels of nesting.`)

/** A deep copy that holds only what may be stored; `undefined` becomes null and lone surrogates U+FFFD, as in MongoDB. */
export function copy(value: unknown, levels = DEEPEST): Value {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : value.toWellFormed()
    case 'number':
    case 'boolean':
      return value
    case 'undefined':
      return null
    case 'object':
      return value === null ? null : copyObject(value, levels)
  }
  return refuse(`a value of type ${typeof value}`)
}

function copyObject(value: object, levels: number): Value {
  if (levels === 0) throw tooDeep()
  if (Array.isArray(value)) return Array.from(value, (item) => copy(item, levels - 1))
  if ('toBSON' in value && typeof value.toBSON === 'function') return copy(value.toBSON(), levels - 1)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return copyInstance(value)
  if ('_bsontype' in value) return refuse('the field name "_bsontype"')
  const fields: Fields = {}
  for (const name of Object.keys(value)) fields[checkName(name)] = copy(Reflect.get(value, name), levels - 1)
  return fields
}

function copyInstance(value: object): Value {
  if (isDate(value)) return Number.isNaN(value.getTime()) ? refuse('an invalid Date') : new Date(value)
  if (isBinary(value)) return new Binary(Buffer.from(value.value()), value.sub_type)
  if (value instanceof Uint8Array) return new Binary(Buffer.from(value))
  return refuse(`a value of type ${value.constructor.name}`)
}

const soundNames = new Set<string>()
const soundNamesAtMost = 10_000

/** Is it stored as the JSON it is, with nothing in it to copy, to wrap or to refuse? */
function isPlain(value: unknown, levels = DEEPEST): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object') return typeof value === 'boolean'
  if (value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isPlain(value[at], levels - 1)) return false
    return true
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const name in value) {
    if (!soundNames.has(name)) {
      if (name === '_bsontype') return false
      checkName(name)
      if (soundNames.size < soundNamesAtMost) soundNames.add(name)
    }
    if (!isPlain((value as Record<string, unknown>)[name], levels - 1)) return false
  }
  return true
}

export function checkName(name: string): string {
  if (name.startsWith('$') || name.includes('.') || name.includes('\0') || name === '__proto__') {
    refuse(`the field name ${JSON.stringify(name)}`)
  }
  return name
}

/** A document to insert, its `_id` first, and its bytes. What could be stored as it is comes back as it is. */
export function documentOf(value: unknown): { document: Document; bytes: Buffer } {
  if (isFirstId(value) && isPlain(value)) {
    checkId(value._id)
    return { document: value, bytes: encode(value, true) }
  }
  const document = copyDocument(value)
  return { document, bytes: encode(document) }
}

function isFirstId(value: unknown): value is Document {
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) return name === '_id'
  return false
}

function copyDocument(value: unknown): Document {
  const fields = copy(value)
  if (!isFields(fields)) return refuse('a document that is no plain object')
  const { _id, ...rest } = fields
  return { _id: checkId(_id), ...rest }
}

export function checkId(id: Value | Missing): string {
  if (typeof id !== 'string') return refuse('an _id that is no string')
  return Buffer.byteLength(id) <= 1800 ? id : refuse('an _id of more than 1,800 bytes')
}

/** MongoDB's order of types. */
export function rank(value: Value | Missing): number {
  if (value === null || value === undefined) return 5
  if (typeof value === 'number') return 10
  if (typeof value === 'string') return 15
  if (typeof value === 'boolean') return 40
  if (isDate(value)) return 45
  if (Array.isArray(value)) return 25
  return isBinary(value) ? 30 : 20
}

/** Equal in type, value and the order of fields. */
export function identical(one: Value, other: Value): boolean {
  if (one === other || Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (rank(one) !== rank(other)) return false
  if (isDate(one)) return one.getTime() === Number(other)
  if (isBinary(one))
    return isBinary(other) && one.sub_type === other.sub_type && Buffer.compare(one.value(), other.value()) === 0
  const entries = Object.entries(one)
  const others = Object.entries(other)
  return (
    entries.length === others.length &&
    entries.every(([name, field], at) => {
      const pair = others[at]
      return pair !== undefined && pair[0] === name && identical(field, pair[1])
    })
  )
}

/** The document as bytes: JSON, with a leading `!` where it holds what JSON cannot. */
export function encode(document: Fields, plain = isPlain(document)): Buffer {
  const bytes = Buffer.from(plain ? JSON.stringify(document) : `!${JSON.stringify(wrap(document, DEEPEST))}`)
  const size = bytes.length > SURELY_FITS ? mongoose.mongo.BSON.calculateObjectSize(document) : 0
  if (size > LARGEST) throw serverError(10334, `The document is too large: ${size} bytes, at most ${LARGEST}.`)
  return bytes
}

export function decode(bytes: Buffer): Document {
  const text = bytes.toString()
  return text.startsWith('!') ? unwrap(JSON.parse(text.slice(1))) : JSON.parse(text)
}

function wrap(value: Value, levels: number): unknown {
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { $n: String(value === 0 ? '-0' : value) }
  if (typeof value !== 'object' || value === null) return value
  if (isDate(value)) return { $d: value.getTime() }
  if (isBinary(value)) return { $b: Buffer.from(value.value()).toString('base64'), $t: value.sub_type }
  if (levels === 0) throw tooDeep()
  if (Array.isArray(value)) {
    const items = value.map((item) => wrap(item, levels - 1))
    return items.every((item, at) => item === value[at]) ? value : items
  }
  let fields: Record<string, unknown> | undefined
  for (const name in value) {
    const field = value[name] as Value
    const wrapped = wrap(field, levels - 1)
    if (wrapped === field) continue
    fields ??= { ...value }
    fields[name] = wrapped
  }
  return fields ?? value
}

function unwrap<T>(value: T): T
function unwrap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => unwrap(item))
  const fields = value as Record<string, unknown>
  if ('$d' in fields) return new Date(Number(fields.$d))
  if ('$n' in fields) return Number(fields.$n)
  if ('$b' in fields) return new Binary(Buffer.from(String(fields.$b), 'base64'), Number(fields.$t))
  for (const name in fields) fields[name] = unwrap(fields[name])
  return fields
}
