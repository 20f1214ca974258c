import { type Core, createRoom, type Room } from './core.ts'
import { applyRow, deliverRows, readToHead } from './follower.ts'
import { needsLease } from './leases.ts'
import { pageRows, ringRows } from './limits.ts'
import { writeRecords } from './records.ts'
import { GLOBAL, type RoomKey } from './types.ts'

const idleMilliseconds = 60_000
const idleRoomsAtMost = 5_000

interface Opener {
  open(key: RoomKey): Promise<Room>
}

/** Opens each room once, and `global` first. */
export function createOpener(core: Core): Opener {
  const opening = new Map<RoomKey, Promise<Room>>()

  async function open(key: RoomKey): Promise<Room> {
    try {
      if (key !== GLOBAL) await openOnce(GLOBAL)
      const room = createRoom(core, key, (opened) => readToHead(core, opened))
      core.rooms.set(key, room)
      core.hints.follow?.(key)
      await load(core, room)
      return room
    } catch (error) {
      forget(core, key)
      throw error
    } finally {
      opening.delete(key)
    }
  }

  function openOnce(key: RoomKey): Promise<Room> {
    const room = core.rooms.get(key)
    if (room?.isOpen) {
      room.usedAt.raise(core.clock.elapsed())
      return Promise.resolve(room)
    }
    const begun = opening.get(key) ?? open(key)
    opening.set(key, begun)
    return begun
  }

  return { open: openOnce }
}

// The order matters. From the lease on, other nodes wait for this one; a room without rows needs none. A mark that is
// read before the records applies to them.
async function load(core: Core, room: Room): Promise<void> {
  const { store, projection, records, clock } = core
  const leasedAt = clock.elapsed()
  const head = await store.headOf(room.key)
  const isThere = room.key === GLOBAL || head.seq > 0
  if (!store.alone && isThere) await core.policy.beforeView(() => core.lease([room.key]))
  const always = projection.always(room.key)
  const found = always.length > 0 ? await records.load(room.key, always) : new Map<string, never>()
  for (const key of always) room.view.facts.set(key, found.get(key) ?? { value: null, seq: 0 })
  room.head.raise(head.seq)
  room.view.startAt(head.epoch, Math.max(0, Math.min(head.materialised, head.seq - ringRows)))
  await readLog(core, room)
  room.materialised.raise(Math.min(head.materialised, room.view.seq))
  if (store.alone) await writeRecords(core, room)
  if (room.key === GLOBAL) core.leasedAt.raise(leasedAt)
  room.confirmed.raise(room.view.seq)
  room.isOpen = true
  deliverRows(core, room, [])
  if (store.alone && room.view.seq > room.head.at) core.raiseHeadSoon(room)
  if (!store.alone && needsLease(room)) core.lease([room.key]).catch(() => {})
}

async function readLog(core: Core, room: Room): Promise<void> {
  const tick = core.tick()
  for (;;) {
    const rows = await core.store.read(room.key, room.view.seq, pageRows)
    for (const row of rows) applyRow(core, room, row)
    if (rows.length < pageRows) break
  }
  room.freshTick.raise(tick)
}

/** Closes rooms without a hold after a minute without use, or when too many are open. */
export function closeIdleRooms(core: Core): void {
  const now = core.clock.elapsed()
  const idle = [...core.rooms.values()].filter((room) => isIdle(room) && now - room.usedAt.at > 1_000)
  idle.sort((one, other) => one.usedAt.at - other.usedAt.at)
  const gone = idle.filter(
    (room, index) =>
      !needsLease(room) || now - room.usedAt.at > idleMilliseconds || index < idle.length - idleRoomsAtMost,
  )
  for (const { key } of gone) forget(core, key)
  const leased = gone.filter(({ isLeased }) => isLeased)
  if (leased.length > 0 && !core.store.alone) core.lease(leased.map((room) => room.key)).catch(() => {})
}

function forget(core: Core, key: RoomKey): void {
  core.rooms.delete(key)
  core.hints.leave?.(key)
}

function isIdle(room: Room): boolean {
  const isBusy = room.isTurning || room.queue.length > 0 || room.pins > 0
  return room.isOpen && !isBusy && room.holds === 0 && room.key !== GLOBAL && room.materialised.at === room.view.seq
}
