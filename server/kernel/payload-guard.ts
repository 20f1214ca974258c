import { AppError } from '#shared/errors'
import { isFieldName } from '#shared/kit/field-name'

const maxDepth = 8
const maxNodes = 2_000
const forbidden = new Set(['constructor', 'prototype'])

/**
 * Refuses values that are too deep, huge or touch prototypes, and what no store can encode, before any schema reads them. Does not recurse.
 * Returns an upper bound of the length of the value as JSON.
 */
export function guardPayload(value: unknown): number {
  let level: unknown[] = [value]
  let [seen, length] = [0, 0]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const node of level) {
      length += lengthOf(node)
      if (typeof node === 'number' && !Number.isFinite(node))
        throw new AppError('VALIDATION_ERROR', { message: 'A number out of range' })
      if (typeof node === 'string' && !node.isWellFormed())
        throw new AppError('VALIDATION_ERROR', { message: 'Invalid characters' })
      // A file was received by the door, under limits of its own.
      if (typeof node !== 'object' || node === null || node instanceof File) continue
      if (ArrayBuffer.isView(node) || node instanceof ArrayBuffer)
        throw new AppError('VALIDATION_ERROR', { message: 'Binary is not accepted here' })
      const names = Array.isArray(node) ? [] : Object.keys(node)
      const children = Array.isArray(node) ? node : names.map((name) => (node as Record<string, unknown>)[name])
      seen += children.length
      if (depth >= maxDepth || seen > maxNodes)
        throw new AppError('VALIDATION_ERROR', { message: 'Too deep or too many fields' })
      for (const name of names) {
        if (forbidden.has(name) || !isFieldName(name))
          throw new AppError('VALIDATION_ERROR', { message: 'Forbidden key' })
        length += lengthOf(name)
      }
      for (const child of children) next.push(child)
    }
    level = next
  }
  return length
}

const escaped = 6
const mark = 4
const longestScalar = 32

/** At most so many characters of JSON, with the marks around it. */
const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length * escaped + mark : longestScalar)
