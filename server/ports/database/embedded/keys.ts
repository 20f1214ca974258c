import { createHash } from 'node:crypto'
import { type Fields, isBinary, isDate, type Missing, rank, type Value } from './values.ts'

export const TREE_BYTES = 2
export const ROW_BYTES = 6
const LONGEST = 1900
const HASHED_TAIL = 32
const END = 1
const ESCAPE = 2
const EMPTY_ARRAY_TAG = 3

/** What an index holds for an empty array: before null. */
export const emptyArray = Symbol('empty array')
export type Part = Value | Missing | typeof emptyArray

let scratch = Buffer.allocUnsafe(16_384)
let length = 0

/** What the keys of one collection or index begin with. */
export function treeKey(tree: number): Buffer {
  const bytes = Buffer.allocUnsafe(TREE_BYTES)
  bytes.writeUInt16BE(tree)
  return bytes
}

/** Bytes whose order is MongoDB's order of the values, each compared downwards where its direction is -1. */
export function encodeKey(values: readonly Part[], directions: readonly (1 | -1)[]): Buffer {
  length = 0
  putAll(values, directions)
  return taken(0)
}

/** The stored key of an index entry. If rows share values, zeros at its end leave room for the row's number. */
export function encodeEntry(
  tree: number,
  values: readonly Part[],
  directions: readonly (1 | -1)[],
  isUnique: boolean,
): { key: Buffer; cut: boolean } {
  length = scratch.writeUInt16BE(tree)
  putAll(values, directions)
  const cut = length > TREE_BYTES + LONGEST
  if (cut) hashTail()
  return { key: taken(isUnique ? 0 : ROW_BYTES), cut }
}

function putAll(values: readonly Part[], directions: readonly (1 | -1)[]): void {
  for (let at = 0; at < values.length; at++) {
    const start = length
    put(values[at])
    if (directions[at] === -1) invert(start)
  }
}

/** Too long keys are cut and end in a hash: unique, but no longer in order. */
function hashTail(): void {
  const hash = createHash('sha256').update(scratch.subarray(TREE_BYTES, length)).digest()
  const start = TREE_BYTES + LONGEST - HASHED_TAIL
  length = start + hash.copy(scratch, start)
}

function taken(room: number): Buffer {
  const key = Buffer.allocUnsafe(length + room)
  scratch.copy(key, 0, 0, length)
  if (room > 0) key.fill(0, length)
  return key
}

/** A bound that is surely before (or after) every fitted key which the exact bound is before (or after). */
export function fitBound(bound: Buffer, side: 'low' | 'high'): Buffer {
  if (bound.length <= LONGEST - HASHED_TAIL) return bound
  const head = bound.subarray(0, LONGEST - HASHED_TAIL)
  return side === 'low' ? head : Buffer.concat([head, Buffer.alloc(HASHED_TAIL + 1, 0xff)])
}

/** MongoDB's order, whatever the types; strings in UTF-8 order. */
export function compare(one: Value, other: Value): number {
  if (typeof one === 'number' && typeof other === 'number' && one < other) return -1
  if (typeof one === 'number' && typeof other === 'number' && one > other) return 1
  if (isDate(one) && isDate(other)) return one.getTime() - other.getTime()
  const left = encodeKey([one], [1])
  return Buffer.compare(left, encodeKey([other], [1]))
}

function put(part: Part): void {
  reserve(1)
  scratch[length++] = part === emptyArray ? EMPTY_ARRAY_TAG : rank(part)
  if (part !== emptyArray) putPayload(part)
}

function putPayload(value: Value | Missing): void {
  if (value === null || value === undefined) return
  reserve(16)
  if (typeof value === 'number') putNumber(value)
  else if (typeof value === 'string') putText(value)
  else if (typeof value === 'boolean') scratch[length++] = value ? 2 : 1
  else if (isDate(value)) putNumber(value.getTime())
  else if (isBinary(value)) putBytes(Buffer.from(value.value()), value.sub_type)
  else putFields(value)
}

function putFields(value: Value[] | Fields): void {
  for (const [name, field] of Object.entries(value)) {
    reserve(1)
    scratch[length++] = rank(field)
    if (!Array.isArray(value)) putText(name)
    putPayload(field)
  }
  reserve(1)
  scratch[length++] = END
}

function putNumber(value: number): void {
  if (Number.isNaN(value)) {
    scratch.fill(0, length, length + 8)
  } else {
    scratch.writeDoubleBE(value === 0 ? 0 : value, length)
    if (value < 0) invert(length, length + 8)
    else scratch[length] = (scratch[length] ?? 0) ^ 0x80
  }
  length += 8
}

function putText(text: string): void {
  reserve(text.length * 6 + 1)
  const start = length
  length += scratch.write(text, length)
  for (let at = start; at < length; at++) {
    if ((scratch[at] ?? 0) <= ESCAPE) {
      escapeFrom(at)
      break
    }
  }
  scratch[length++] = END
}

function escapeFrom(first: number): void {
  const rest = Buffer.from(scratch.subarray(first, length))
  length = first
  for (const byte of rest) {
    if (byte <= ESCAPE) scratch[length++] = ESCAPE
    scratch[length++] = byte <= ESCAPE ? byte + 1 : byte
  }
}

function putBytes(bytes: Buffer, subType: number): void {
  reserve(bytes.length + 5)
  length = scratch.writeUInt32BE(bytes.length, length)
  scratch[length++] = subType
  length += bytes.copy(scratch, length)
}

function invert(start: number, end = length): void {
  for (let at = start; at < end; at++) scratch[at] = ~(scratch[at] ?? 0) & 0xff
}

function reserve(bytes: number): void {
  if (length + bytes + 16 > scratch.length) scratch = Buffer.concat([scratch], (length + bytes + 16) * 2)
}
