import type { Core } from './core.ts'
import { type KnownFact, resolve } from './facts.ts'
import { type Change, type Row, UNREADABLE } from './types.ts'

/** What follows from a row; nothing from one that cannot be applied. */
export function changesOf(core: Core, row: Row): readonly Change[] {
  try {
    return core.projection.changes(row)
  } catch (error) {
    quarantine(core, row, error)
    return []
  }
}

/** What a row makes of the facts; nothing where it cannot be applied. */
export function factsAfter(core: Core, row: Row, known: (key: string) => KnownFact | undefined) {
  try {
    return resolve(core.projection.changes(row), row, known)
  } catch (error) {
    quarantine(core, row, error)
    return []
  }
}

/** The row, or what is shown in its place. */
export function readable(core: Core, row: Row): Row {
  if (isQuarantined(core, row)) return shown(row)
  changesOf(core, row)
  return isQuarantined(core, row) ? shown(row) : row
}

/** Its place in the order stays, so that readers have no gap; that it cannot be applied is told once. */
export function quarantine(core: Core, row: Row, error: unknown): void {
  if (isQuarantined(core, row)) return
  core.quarantined.add(row._id)
  core.observer?.quarantined?.(row, error)
}

const isQuarantined = ({ quarantined }: Core, { _id }: Row): boolean => quarantined.has(_id)

const shown = (row: Row): Row => ({
  ...row,
  type: UNREADABLE,
  body: { actor: { name: '', role: null } },
  target: null,
  until: null,
  reason: null,
})
