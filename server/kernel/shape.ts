import { AppError } from '#shared/errors'

const maxDepth = 8
const maxNodes = 2_000
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** Refuses what no schema should have to look at: deep, huge or prototype-touching values. Does not recurse. */
export function guardShape(value: unknown): void {
  const queue: [unknown, number][] = [[value, 0]]
  for (let seen = 0; queue.length > 0; seen++) {
    const [node, depth] = queue.pop() ?? []
    if (typeof node !== 'object' || node === null) continue
    if (depth === undefined || depth >= maxDepth || seen > maxNodes)
      throw new AppError('VALIDATION_ERROR', { message: 'Too deep or too many fields' })
    if (ArrayBuffer.isView(node) || node instanceof ArrayBuffer)
      throw new AppError('VALIDATION_ERROR', { message: 'Binary is not accepted here' })
    const entries = Object.entries(node)
    if (entries.length > maxNodes) throw new AppError('VALIDATION_ERROR', { message: 'Too deep or too many fields' })
    for (const [key, child] of entries) {
      if (forbidden.has(key)) throw new AppError('VALIDATION_ERROR', { message: 'Forbidden key' })
      queue.push([child, depth + 1])
    }
  }
}
