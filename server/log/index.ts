import { type Core, createCore, createRoom, type Room, unavailableError } from './core.ts'
import { applyRow, deliverRows, readMissedRows, readToHead, receiveHint } from './follower.ts'
import { mayAct, needsLease, observePeers, renewLeases } from './leases.ts'
import { pageRows, ringRows } from './limits.ts'
import { learnMaterialised, loadFacts, readableRow, writeLateRecords, writeRecords } from './records.ts'
import { bringToHead, enqueueAct, isolateStuck } from './turn.ts'
import { GLOBAL, type LogDependencies, type RoomKey, type RoomLog, type View } from './types.ts'
import { Draft } from './view.ts'
import { createDeadlines, type Deadlines, WaitingAct } from './waiting.ts'

const idleMilliseconds = 60_000
const idleRoomsAtMost = 5_000

interface Opener {
  open(key: RoomKey): Promise<Room>
}

/** Opens each room once, and `global` first. */
function createOpener(core: Core): Opener {
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
function closeIdleRooms(core: Core): void {
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

const overlapMilliseconds = 5_000
const comparisonMilliseconds = 25_000
const roomsAQuery = 200

/** Reads missed rows even if every hint is lost, renews leases and closes idle rooms. */
async function pollRooms(core: Core): Promise<void> {
  let polledAt = core.clock.now()
  let comparedAt = core.clock.elapsed()
  for (;;) {
    await core.clock.sleep(core.hints.pollMilliseconds())
    if (core.isClosed) return
    const [now, elapsed] = [core.clock.now(), core.clock.elapsed()]
    isolateStuck(core)
    if (!core.store.alone && core.rooms.size > 0) {
      let hasLostPeer = false
      await alone(async () => {
        await renewLeases(core)
        hasLostPeer = await observePeers(core)
      })
      await alone(async () => {
        await followHeads(core, polledAt - overlapMilliseconds)
        polledAt = now
      })
      if (hasLostPeer || elapsed - comparedAt >= comparisonMilliseconds)
        await alone(async () => {
          await compare(core)
          comparedAt = elapsed
        })
    }
    await each(openRooms(core), (room) => writeLateRecords(core, room))
    closeIdleRooms(core)
    core.observer?.follows(core.rooms.size)
  }
}

/** Failed work is done again in the next round, and delays nothing else. */
const alone = (work: () => Promise<void>): Promise<void> => work().catch(() => {})

const each = async (rooms: readonly Room[], work: (room: Room) => Promise<void>): Promise<void> => {
  await Promise.all(rooms.map((room) => alone(() => work(room))))
}

const openRooms = (core: Core): Room[] => [...core.rooms.values()].filter((room) => room.isOpen)

async function followHeads(core: Core, since: number): Promise<void> {
  const heads = await core.store.headsMovedSince(since)
  const ofRoom = new Map(heads.map((head) => [head.room, head]))
  await each(openRooms(core), async (room) => {
    const head = ofRoom.get(room.key)
    if (!head) return
    if (head.seq > room.view.seq) await readMissedRows(core, room, 'poll')
    room.head.raise(head.seq)
    learnMaterialised(room, head.materialised)
  })
}

/** A head may never have been raised, so the log itself is searched for newer rows. */
async function compare(core: Core): Promise<void> {
  const rooms = openRooms(core)
  for (let start = 0; start < rooms.length; start += roomsAQuery) {
    const asked = rooms.slice(start, start + roomsAQuery)
    const advanced = new Set(await core.store.advanced(asked.map(({ key, view }) => ({ room: key, seq: view.seq }))))
    await each(
      asked.filter(({ key }) => advanced.has(key)),
      (room) => readMissedRows(core, room, 'comparison'),
    )
  }
}

export type * from './types.ts'
export { GLOBAL, ROW_VERSION, SKIPPED, UNREADABLE } from './types.ts'
export { chainOf, sealErased, verifyChain } from './view.ts'

const drainMilliseconds = 3_000

export function createRoomLog(dependencies: LogDependencies): RoomLog {
  const core = createCore(dependencies)
  const deadlines = createDeadlines(core.clock, core.policy.deadlineFactor)
  const { open } = createOpener(core)
  let isClosing = false
  core.hints.subscribe((hint) => receiveHint(core, hint))
  void pollRooms(core)

  return {
    node: core.node,

    act: (key, act) =>
      new Promise((resolve, reject) => {
        const own = { cid: act.cid ?? core.newId(), arrived: core.tick(), deadlines }
        const waiting = new WaitingAct(act, own, { resolve, reject })
        const room = core.rooms.get(key)
        if (isClosing) waiting.refuse(unavailableError(undefined))
        else if (room?.isOpen) enqueueAct(core, room, waiting)
        else
          open(key).then(
            (opened) => enqueueAct(core, opened, waiting),
            (error) => waiting.refuse(unavailableError(error)),
          )
      }),

    ask: (key, question, atOnce) =>
      new Promise((resolve, reject) => {
        const asking = { isSettled: false, refuse: reject }
        deadlines.add(asking)
        open(key)
          .then((room) => ask(core, room, question, atOnce))
          .then(resolve, reject)
          .finally(() => {
            asking.isSettled = true
          })
      }),

    async read(key, after, limit) {
      const room = core.rooms.get(key)
      const most = Math.min(limit, pageRows)
      if (room?.isOpen && after >= room.ring.floor) return room.ring.after(after, most)
      return (await core.store.read(key, after, most)).map((row) => readableRow(core, row))
    },

    async head(key) {
      const { epoch, seq, total } = (await open(key)).view
      return { epoch, seq, total }
    },

    headHere(key) {
      const room = core.rooms.get(key)
      return room?.isOpen ? { seq: room.view.seq, total: room.view.total, recorded: room.materialised.at } : null
    },

    answerHere(key, question) {
      const room = core.rooms.get(key)
      if (!room?.isOpen || !mayAct(core)) return null
      const draft = new Draft(room.view)
      const answer = attempt(() => question(draft))
      return draft.isComplete() ? answer() : null
    },

    async hold(key) {
      const room = await open(key)
      let isHeld = true
      room.holds++
      try {
        if (!room.isLeased && !core.store.alone) await core.lease([key]).then(room.refresh)
      } catch (error) {
        room.holds--
        throw unavailableError(error)
      }
      return () => {
        if (!isHeld) return
        isHeld = false
        room.holds--
        room.usedAt.raise(core.clock.elapsed())
      }
    },

    onRows: (listener) => void core.listeners.push(listener),

    replaceInMemory({ row, fact }) {
      for (const { key, ring, view } of core.rooms.values()) {
        ring.replace(row)
        view.facts.replace((name, value) => fact(name, value, key))
      }
    },

    close() {
      isClosing = true
      return close(core, deadlines)
    },
  }
}

async function ask<T>(
  core: Core,
  room: Room,
  question: (view: View, now: number) => T,
  atOnce?: (answer: T) => void,
): Promise<T> {
  await bringToHead(core, room).catch(rethrow)
  for (;;) {
    const draft = new Draft(room.view)
    const answer = attempt(() => question(draft, Math.max(draft.at, core.clock.now())))
    if (draft.isComplete()) {
      const current = answer()
      atOnce?.(current)
      return current
    }
    const global = core.rooms.get(GLOBAL)
    await loadFacts(core, room, draft.missing).catch(rethrow)
    if (global && global !== room) await loadFacts(core, global, draft.global.missing).catch(rethrow)
  }
}

/** Runs the work now; an error is thrown when the result is read. */
function attempt<T>(work: () => T): () => T {
  try {
    const result = work()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function rethrow(error: unknown): never {
  throw unavailableError(error)
}

/** Waits for the answers of acts in progress. Then it releases the leases, so that no node waits for this one. */
async function close(core: Core, deadlines: Deadlines): Promise<void> {
  const end = core.clock.elapsed() + drainMilliseconds
  while (core.clock.elapsed() < end && deadlines.areWaiting()) await core.clock.sleep(5)
  core.isClosed = true
  const rooms = [...core.rooms.values()]
  core.rooms.clear()
  for (const { key } of rooms) core.hints.leave?.(key)
  const written = rooms.map((room) => core.raiseHead(room))
  const leased = rooms.filter(({ isLeased }) => isLeased)
  if (!core.store.alone) written.push(core.lease(leased.map(({ key }) => key)))
  await Promise.race([Promise.allSettled(written), core.clock.sleep(1_000)])
}
