import type { Core, Room } from './core.ts'
import { confirmRows } from './leases.ts'
import { pageRows, ringRows } from './limits.ts'
import { factsAfter, quarantineRow, readableRow } from './records.ts'
import type { Hint, Row } from './types.ts'
import { risingNumber } from './view.ts'

const earlyRowsAtMost = 1_000
const gapMilliseconds = 8

/** Applies rows in the order of `seq`, each once, whatever their source, and notifies the listeners. */
export function deliverRows(core: Core, room: Room, rows: readonly Row[], isOurs = false): void {
  const delivered: Row[] = []
  for (const row of rows) {
    if (room.isOpen && row.seq === room.view.seq + 1 && isOf(room, row)) delivered.push(applyRow(core, room, row))
    else if (row.seq > room.view.seq && room.early.size < earlyRowsAtMost) room.early.set(row.seq, row)
  }
  if (room.early.size > 0 && room.isOpen) delivered.push(...applyEarly(core, room))
  const [oldest] = delivered
  if (!oldest) return
  for (const listener of core.listeners) {
    try {
      listener(room.key, delivered, isOurs)
    } catch (error) {
      core.observer?.failed?.(room.key, error)
    }
  }
  core.observer?.delivered(Math.max(0, core.clock.now() - oldest.at))
  confirmRows(core, room, delivered)
  trim(room)
}

/** Applies the next row to the view, without a notification. */
export function applyRow(core: Core, room: Room, row: Row): Row {
  const { view, ring } = room
  for (const { key, fact } of factsAfter(core, row, (key) => view.facts.get(key))) view.facts.set(key, fact)
  const own = core.projection.isRecordOf?.(row)
  if (own) view.facts.forgetAbsent(own)
  const shown = readableRow(core, row)
  view.moveTo(shown)
  ring.push(shown)
  try {
    const rewrite = core.projection.rewrites?.(shown)
    if (rewrite) ring.rewrite(shown, rewrite)
  } catch (error) {
    quarantineRow(core, row, error)
  }
  return shown
}

/** Reads from the view to the end of the log. */
export async function readToHead(core: Core, room: Room): Promise<void> {
  const tick = core.tick()
  for (;;) {
    const rows = await core.store.read(room.key, room.view.seq, pageRows)
    deliverRows(core, room, rows)
    if (rows.length < pageRows) break
  }
  room.freshTick.raise(tick)
}

export function receiveHint(core: Core, hint: Hint): void {
  if (hint.node === core.node) return
  if (hint.kind === 'rows') receiveRows(core, hint.rows)
  else if (hint.kind === 'confirmed') receiveConfirmed(core.rooms.get(hint.room), hint.node, hint.seq)
  else receiveCollided(core, core.rooms.get(hint.room))
}

/** The winner of an insert race gets no error, so the loser notifies it. Otherwise one node could win each race. */
function receiveCollided(core: Core, room: Room | undefined): void {
  if (room) room.contestedAt = core.clock.elapsed()
}

function receiveConfirmed(room: Room | undefined, node: string, seq: number): void {
  if (!room) return
  const confirmed = room.confirmedBy.get(node) ?? risingNumber()
  confirmed.raise(seq)
  room.confirmedBy.set(node, confirmed)
  for (const wake of room.onConfirmed) wake()
}

function receiveRows(core: Core, rows: readonly Row[]): void {
  const room = rows[0] && core.rooms.get(rows[0].room)
  if (!room) return
  const isLate = rows.every(({ seq }) => seq <= room.view.seq)
  core.observer?.hinted(isLate ? 'late' : 'received', rows.length)
  const before = room.view.seq
  deliverRows(core, room, rows)
  if (room.view.seq > before) room.onOthers?.()
  if (room.isOpen && room.early.size > 0 && !room.isGapWatched) void fillGap(core, room).catch(() => {})
}

// Hints of two nodes often overtake each other, so a missing row usually arrives soon.
async function fillGap(core: Core, room: Room): Promise<void> {
  room.isGapWatched = true
  await core.clock.sleep(gapMilliseconds)
  room.isGapWatched = false
  const expected = [...room.early.keys()]
  if (expected.length > 0) await readMissedRows(core, room, 'gap')
  // The read began after the hint: a row that it did not find is not in the log.
  for (const seq of expected) if (seq > room.view.seq) room.early.delete(seq)
}

/** Reads the rows that came by no hint. */
export async function readMissedRows(core: Core, room: Room, by: 'gap' | 'poll' | 'comparison'): Promise<void> {
  const before = room.view.seq
  await room.refresh()
  if (room.view.seq > before) core.observer?.healed(by, room.view.seq - before)
}

/** A hint may come from another log of the same name. */
function isOf({ view }: Room, { epoch }: Row): boolean {
  return view.epoch === '' || view.epoch === epoch
}

function applyEarly(core: Core, room: Room): Row[] {
  const found: Row[] = []
  for (;;) {
    const row = room.early.get(room.view.seq + 1)
    if (!row || !isOf(room, row)) break
    found.push(applyRow(core, room, row))
  }
  for (const seq of room.early.keys()) if (seq <= room.view.seq) room.early.delete(seq)
  return found
}

/**
 * Keeps the last rows, and rows whose records may be unwritten. It trims in large steps, because trimming is costly.
 */
function trim({ ring, view, materialised, pins }: Room): void {
  if (ring.length < 2 * ringRows || pins > 0) return
  ring.trim(Math.min(view.seq - ringRows, materialised.at))
}
