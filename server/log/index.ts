import { type Core, createCore, type Room, unavailableError } from './core.ts'
import { receiveHint } from './follower.ts'
import { mayAct } from './leases.ts'
import { pageRows } from './limits.ts'
import { createOpener } from './opening.ts'
import { pollRooms } from './poll.ts'
import { readableRow } from './readable.ts'
import { loadFacts } from './records.ts'
import { bringToHead, enqueueAct } from './turn.ts'
import { GLOBAL, type LogDependencies, type RoomLog, type View } from './types.ts'
import { Draft } from './view.ts'
import { createDeadlines, type Deadlines, WaitingAct } from './waiting.ts'

export { chainOf, sealErased, verifyChain } from './chain.ts'
export type * from './types.ts'
export { GLOBAL, ROW_VERSION, SKIPPED, UNREADABLE } from './types.ts'

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
