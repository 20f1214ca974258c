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

/** The first row whose hash does not follow, or null. The rows are all rows, or the chained ones alone. */
export function verifyChain(rows: readonly Row[], previous: string): Row | null {
  for (const row of rows) {
    if (row.chain !== (row.chained ? chainOf(previous, row) : previous)) return row
    previous = row.chain
  }
  return null
}
