import type { Core } from './core.ts'
import { type KnownFact, resolveFacts } from './facts.ts'
import { type Change, type Row, UNREADABLE } from './types.ts'

/** The changes of a row; none for a quarantined one. */
export function changesOf(core: Core, row: Row): readonly Change[] {
  try {
    return core.projection.changes(row)
  } catch (error) {
    quarantineRow(core, row, error)
    return []
  }
}

/** The facts after a row; none for a quarantined one. */
export function factsAfter(core: Core, row: Row, known: (key: string) => KnownFact | undefined) {
  try {
    return resolveFacts(core.projection.changes(row), row, known)
  } catch (error) {
    quarantineRow(core, row, error)
    return []
  }
}

/** The row, or its replacement if it is quarantined. */
export function readableRow(core: Core, row: Row): Row {
  if (isQuarantined(core, row)) return unreadableRow(row)
  changesOf(core, row)
  return isQuarantined(core, row) ? unreadableRow(row) : row
}

/** A quarantined row keeps its place, so that readers see no gap. It is reported once. */
export function quarantineRow(core: Core, row: Row, error: unknown): void {
  if (isQuarantined(core, row)) return
  core.quarantined.add(row._id)
  core.observer?.quarantined?.(row, error)
}

const isQuarantined = ({ quarantined }: Core, { _id }: Row): boolean => quarantined.has(_id)

const unreadableRow = (row: Row): Row => ({
  ...row,
  type: UNREADABLE,
  body: { actor: { name: '', role: null } },
  target: null,
  until: null,
  reason: null,
})
