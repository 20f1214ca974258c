import { createHash } from 'node:crypto'
import type { Row } from './types.ts'

type Hashed = Pick<
  Row,
  '_id' | 'v' | 'room' | 'seq' | 'at' | 'type' | 'sender' | 'target' | 'until' | 'reason' | 'body'
>

/** The hash of version 2 and later covers the whole row. */
export function chainOf(previous: string, row: Hashed): string {
  const { _id, v, room, seq, at, type, sender, target, until, reason, body } = row
  const versioned = v < 2 ? [] : [v, body]
  const content = JSON.stringify(
    [previous, _id, room, seq, at, type, sender, target, until, reason, ...versioned],
    asStored,
  )
  return createHash('sha256').update(content).digest('base64url')
}

/** The value as either store returns it. */
function asStored(_name: string, value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** Seals a row from which a person was erased. It keeps its hash for later rows, and gets one of what is left. */
export const sealErased = (row: Row): Row => (row.chained ? { ...row, erased: chainOf(row.chain, row) } : row)

/** Is the row as it was appended, or as an erasure left it? */
const isWhole = (previous: string, row: Row): boolean => {
  if (!row.chained) return row.chain === previous
  return row.erased === undefined ? row.chain === chainOf(previous, row) : row.erased === chainOf(row.chain, row)
}

/** The first row whose hash does not follow, or null. The rows are all rows, or the chained ones alone. */
export function verifyChain(rows: readonly Row[], previous: string): Row | null {
  for (const row of rows) {
    if (!isWhole(previous, row)) return row
    previous = row.chain
  }
  return null
}
