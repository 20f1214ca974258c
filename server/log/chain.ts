import { createHash } from 'node:crypto'
import type { Row } from './types.ts'

type Hashed = Pick<Row, '_id' | 'room' | 'seq' | 'at' | 'type' | 'sender' | 'target' | 'until' | 'reason'>

export function chainOf(previous: string, row: Hashed): string {
  const { _id, room, seq, at, type, sender, target, until, reason } = row
  const content = JSON.stringify([previous, _id, room, seq, at, type, sender, target, until, reason])
  return createHash('sha256').update(content).digest('base64url')
}

/** The first of these successive rows (all of them, or the chained ones alone) that does not follow; null when all do. */
export function verifyChain(rows: readonly Row[], previous: string): Row | null {
  for (const row of rows) {
    if (row.chain !== (row.chained ? chainOf(previous, row) : previous)) return row
    previous = row.chain
  }
  return null
}
