import { type Core, persist, type Room, unavailable } from './core.ts'
import type { KnownFact, Resolved } from './facts.ts'
import { changesOf, factsAfter } from './readable.ts'
import type { Row } from './types.ts'

/** Brings facts into memory: the record, and what the rows above it say. */
export async function loadFacts(core: Core, room: Room, keys: ReadonlySet<string>): Promise<void> {
  if (keys.size === 0) return
  const since = room.materialised.at
  room.pins++
  try {
    const found = await core.records.load(room.key, [...keys])
    const facts = new Map<string, KnownFact>()
    for (const key of keys) facts.set(key, found.get(key) ?? { value: null, seq: 0 })
    if (isBehind(core, room, facts)) throw unavailable(new Error('The store is behind the rows in memory.'))
    fold(core, room.ring.after(since), facts)
    for (const [key, fact] of facts) if (!room.view.facts.get(key)) room.view.facts.set(key, fact)
    // A record may be ahead of the view; facts of different times are no state that ever was.
    if ([...facts.values()].some(({ seq }) => seq > room.view.seq)) await room.refresh()
  } finally {
    room.pins--
  }
}

/** Is a row in memory the record of one of these facts, and the store did not find it? A cut-off primary tells what was once so. */
function isBehind({ projection }: Core, { ring }: Room, facts: ReadonlyMap<string, KnownFact>): boolean {
  return ring.after(0).some((row) => facts.get(projection.isRecordOf?.(row) ?? '')?.value === null)
}

/** Resolves when every record that follows from the rows up to this one is written. */
export async function recordsWritten(core: Core, room: Room, seq: number): Promise<void> {
  if (seq > room.view.seq) await room.refresh()
  if (seq > room.materialised.at && !room.saved.has(seq)) await writeRecords(core, room)
}

/** Writes whatever the log has above the mark, whoever appended it. */
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

/** What another node has told of its writing, once the view is as far. */
export function learnMaterialised(room: Room, seq: number): void {
  room.materialised.raise(seq)
  closeUp(room)
}

function closeUp({ materialised, saved }: Room): void {
  while (saved.delete(materialised.at + 1)) materialised.raise(materialised.at + 1)
  for (const seq of saved) if (seq <= materialised.at) saved.delete(seq)
}

/** Writes what has stayed unwritten for 2 s, and tells how far all is written. */
export async function sweep(core: Core, room: Room): Promise<void> {
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
  changes: readonly Resolved[],
  rows: readonly Row[],
): Promise<void> {
  if (changes.length > 0) await persist(core, () => core.records.save(room.key, changes))
  markSaved(room, rows)
}

function patchedKeys(core: Core, rows: readonly Row[]): string[] {
  const keys = new Set<string>()
  for (const row of rows) for (const change of changesOf(core, row)) if ('patch' in change) keys.add(change.key)
  return [...keys]
}

/** Applies rows to the facts they start from, and returns each value on the way. */
function fold(core: Core, rows: readonly Row[], facts: Map<string, KnownFact>): Resolved[] {
  const changes: Resolved[] = []
  for (const row of rows) {
    for (const { key, fact } of factsAfter(core, row, (key) => facts.get(key))) {
      if (fact.seq !== row.seq) continue
      facts.set(key, fact)
      changes.push({ key, value: fact.value, row })
    }
  }
  return changes
}
