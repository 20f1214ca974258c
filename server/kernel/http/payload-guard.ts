import { AppError } from '#shared/errors'
import { isFieldName } from '#shared/kit/field-name'

const maxDepth = 8
const maxNodes = 2_000
const forbidden = new Set(['constructor', 'prototype'])

/**
 * Refuses values that are too deep or large, touch prototypes, or cannot be stored, before any schema reads them. It
 * does not recurse. Returns an upper bound of the JSON length.
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
      // The door received the file within its own limits.
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

/** The most characters of JSON, with quotes and separators. */
const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length * escaped + mark : longestScalar)
