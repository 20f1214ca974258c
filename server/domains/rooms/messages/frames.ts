import type { Row } from '#server/log/types'

export interface Frame {
  rows: readonly Row[]
  /** The person whom its last row removes; they receive this frame, and no later one. */
  removed: string | null
}

/** One frame for simultaneous rows; a row that removes a person ends its frame. */
export function framesOf(rows: readonly Row[], removedBy: (row: Row) => string | null): Frame[] {
  const frames: Frame[] = []
  let start = 0
  for (const [index, row] of rows.entries()) {
    const removed = removedBy(row)
    if (removed === null && index < rows.length - 1) continue
    frames.push({ rows: rows.slice(start, index + 1), removed })
    start = index + 1
  }
  return frames
}
