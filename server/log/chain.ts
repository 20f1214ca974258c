import { createHash } from 'node:crypto'
import type { Row } from './types.ts'

type Hashed = Pick<
  Row,
  '_id' | 'v' | 'room' | 'seq' | 'at' | 'type' | 'sender' | 'target' | 'until' | 'reason' | 'body'
>

/** From version 2 on the hash covers all that a row says. */
export function chainOf(previous: string, row: Hashed): string {
  const { _id, v, room, seq, at, type, sender, target, until, reason, body } = row
  const said = v < 2 ? [] : [v, body]
  const content = JSON.stringify([previous, _id, room, seq, at, type, sender, target, until, reason, ...said], asStored)
  return createHash('sha256').update(content).digest('base64url')
}

/** As either store gives it back. */
function asStored(_name: string, value: unknown): unknown {
  if (value === undefined) return null
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** The first of these successive rows (all of them, or the chained ones alone) that does not follow; null when all do. */
export function verifyChain(rows: readonly Row[], previous: string): Row | null {
  for (const row of rows) {
    if (row.chain !== (row.chained ? chainOf(previous, row) : previous)) return row
    previous = row.chain
  }
  return null
}
