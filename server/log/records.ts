import { type Core, type Room, retryWrite, unavailableError } from './core.ts'
import { type KnownFact, type ResolvedFact, resolveFacts } from './facts.ts'
import { type Change, type Row, UNREADABLE } from './types.ts'

/** The changes of a row; none for a quarantined one. */
function changesOf(core: Core, row: Row): readonly Change[] {
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

/** Loads facts into memory: their records, and the rows after these. */
export async function loadFacts(core: Core, room: Room, keys: ReadonlySet<string>): Promise<void> {
  if (keys.size === 0) return
  const since = room.materialised.at
  room.pins++
  try {
    const found = await core.records.load(room.key, [...keys])
    const facts = new Map<string, KnownFact>()
    for (const key of keys) facts.set(key, found.get(key) ?? { value: null, seq: 0 })
    if (isBehind(core, room, facts)) throw unavailableError(new Error('The store is behind the rows in memory.'))
    fold(core, room.ring.after(since), facts)
    for (const [key, fact] of facts) if (!room.view.facts.get(key)) room.view.facts.set(key, fact)
    // A record may be newer than the view. Facts of different times are a state that never was.
    if ([...facts.values()].some(({ seq }) => seq > room.view.seq)) await room.refresh()
  } finally {
    room.pins--
  }
}

/** Is a row in memory the record of a fact that the store did not find? A separated primary returns an older state. */
function isBehind({ projection }: Core, { ring }: Room, facts: ReadonlyMap<string, KnownFact>): boolean {
  return ring.after(0).some((row) => facts.get(projection.isRecordOf?.(row) ?? '')?.value === null)
}

/** Resolves when all records of the rows up to this one are written. */
export async function recordsWritten(core: Core, room: Room, seq: number): Promise<void> {
  if (seq > room.view.seq) await room.refresh()
  if (seq > room.materialised.at && !room.saved.has(seq)) await writeRecords(core, room)
}

/** Writes all records above the mark, whichever node appended the rows. */
export async function writeRecords(core: Core, room: Room): Promise<void> {
  const since = room.materialised.at
  const rows = room.ring.after(since).filter((row) => !room.saved.has(row.seq))
  if (rows.length === 0) return
  room.pins++
  try {
    const facts = await core.records.load(room.key, patchedKeys(core, rows))
    await core.records.save(room.key, fold(core, room.ring.after(since), facts))
  } finally {
    room.pins--
  }
  markSaved(room, rows)
}

function markSaved(room: Room, rows: readonly Row[]): void {
  for (const { seq } of rows) if (seq > room.materialised.at) room.saved.add(seq)
  closeUp(room)
}

/** Raises the mark to the one that another node has written. */
export function learnMaterialised(room: Room, seq: number): void {
  room.materialised.raise(seq)
  closeUp(room)
}

function closeUp({ materialised, saved }: Room): void {
  while (saved.delete(materialised.at + 1)) materialised.raise(materialised.at + 1)
  for (const seq of saved) if (seq <= materialised.at) saved.delete(seq)
}

/** Writes records that were unwritten for 2 s, and then the mark. */
export async function writeLateRecords(core: Core, room: Room): Promise<void> {
  const now = core.clock.elapsed()
  if (room.lagging && room.materialised.at >= room.lagging.seq) room.lagging = null
  if (room.materialised.at < room.view.seq) room.lagging ??= { seq: room.view.seq, since: now }
  if (!room.lagging || now - room.lagging.since < 2_000) return
  room.lagging = null
  await writeRecords(core, room)
  await core.raiseHead(room)
}

export async function saveRecords(
  core: Core,
  room: Room,
  changes: readonly ResolvedFact[],
  rows: readonly Row[],
): Promise<void> {
  if (changes.length > 0) await retryWrite(core, () => core.records.save(room.key, changes))
  markSaved(room, rows)
}

function patchedKeys(core: Core, rows: readonly Row[]): string[] {
  const keys = new Set<string>()
  for (const row of rows) for (const change of changesOf(core, row)) if ('patch' in change) keys.add(change.key)
  return [...keys]
}

/** Applies rows to their previous facts, and returns each value on the way. */
function fold(core: Core, rows: readonly Row[], facts: Map<string, KnownFact>): ResolvedFact[] {
  const changes: ResolvedFact[] = []
  for (const row of rows) {
    for (const { key, fact } of factsAfter(core, row, (key) => facts.get(key))) {
      if (fact.seq !== row.seq) continue
      facts.set(key, fact)
      changes.push({ key, value: fact.value, row })
    }
  }
  return changes
}
