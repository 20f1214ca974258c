import { AppError } from '#shared/errors'
import { coalesceRuns } from './coalesce.ts'
import { Facts } from './facts.ts'
import { type Policy, strictPolicy } from './policy.ts'
import { RowRing } from './ring.ts'
import { type RisingNumber, risingNumber } from './rising.ts'
import { GLOBAL, type LogDependencies, type RoomKey, type Row } from './types.ts'
import { LiveView } from './view.ts'
import type { WaitingAct } from './waiting.ts'

/** A room as this node follows it. */
export interface Room {
  readonly key: RoomKey
  readonly view: LiveView
  readonly ring: RowRing
  isOpen: boolean
  readonly queue: WaitingAct<unknown>[]
  isTurning: boolean
  /** The start of the current turn; infinite between turns. */
  turnBegan: number
  /** The number of polls that found the turn too long. One alone may follow a pause of this process. */
  overdue: number
  /** The last time that this node and another wanted the same seq or took turns. */
  contestedAt: number
  /** Called when rows of another node arrive. */
  onOthers: (() => void) | null
  /** Rows that arrived before their predecessors. */
  readonly early: Map<number, Row>
  isGapWatched: boolean
  /** Reads the view to the head, by a read that begins after the call. */
  readonly refresh: () => Promise<void>
  /** The tick at which the last completed read began. */
  readonly freshTick: RisingNumber
  /** All records of the rows up to this one are known to be written. */
  readonly materialised: RisingNumber
  /** Rows above `materialised` whose records are written. */
  readonly saved: Set<number>
  /** The oldest row whose records were found unwritten, and since when. */
  lagging: { seq: number; since: number } | null
  /** The head as last written to the store. */
  readonly head: RisingNumber
  /** The row of which this node guarantees that it acts on no older state. */
  readonly confirmed: RisingNumber
  /** The rows that other nodes have confirmed by hints. */
  readonly confirmedBy: Map<string, RisingNumber>
  readonly onConfirmed: Set<() => void>
  /** While it is above zero, the ring keeps its rows. */
  pins: number
  holds: number
  /** Do other nodes know that this node follows the room? */
  isLeased: boolean
  readonly usedAt: RisingNumber
}

export interface Core extends LogDependencies {
  readonly policy: Policy
  readonly rooms: Map<RoomKey, Room>
  readonly listeners: ((room: RoomKey, rows: readonly Row[], isOurs: boolean) => void)[]
  /** Ids of rows that cannot be applied. */
  readonly quarantined: Set<string>
  /** Inserts that are judged and not yet decided. */
  readonly inFlight: Set<Promise<unknown>>
  /** The last beat of each node, and when it was first seen. */
  readonly peers: Map<string, { beat: number; seenAt: number; isSilent: boolean }>
  /** The time of the last renewal of this node's leases, before `global` was read. */
  readonly leasedAt: RisingNumber
  /** Rises when the leases had expired before a renewal. */
  leaseTerm: number
  isClosed: boolean
  tick(): number
  raiseHead(room: Room): Promise<void>
  /** As `raiseHead`, without waiting: one write for many rooms, repeated after a failure. */
  raiseHeadSoon(room: Room): void
  /** Writes the positions of these rooms into this node's leases. */
  lease(rooms: Iterable<RoomKey>): Promise<void>
}

export function createCore(dependencies: LogDependencies): Core {
  let ticks = 0
  const core: Omit<Core, 'raiseHead' | 'raiseHeadSoon' | 'lease'> = {
    ...dependencies,
    policy: { ...strictPolicy, ...dependencies.policy },
    rooms: new Map(),
    listeners: [],
    quarantined: new Set(),
    inFlight: new Set(),
    peers: new Map(),
    leasedAt: risingNumber(Number.NEGATIVE_INFINITY),
    leaseTerm: 0,
    isClosed: false,
    tick: () => ++ticks,
  }
  return Object.assign(core, raisingHeads(core), { lease: leasing(core) })
}

export const isIsolated = ({ overdue }: Room): boolean => overdue > 1

export function createRoom(core: Core, key: RoomKey, refresh: (room: Room) => Promise<void>): Room {
  const facts = new Facts(core.projection.always(key), core.clock.elapsed)
  const room: Room = {
    key,
    view: new LiveView(key, facts, key === GLOBAL ? null : (core.rooms.get(GLOBAL)?.view ?? null)),
    ring: new RowRing(),
    isOpen: false,
    queue: [],
    isTurning: false,
    turnBegan: Number.POSITIVE_INFINITY,
    overdue: 0,
    contestedAt: Number.NEGATIVE_INFINITY,
    onOthers: null,
    early: new Map(),
    isGapWatched: false,
    refresh: coalesceRuns(() => refresh(room)),
    freshTick: risingNumber(),
    materialised: risingNumber(),
    saved: new Set(),
    lagging: null,
    head: risingNumber(),
    confirmed: risingNumber(),
    confirmedBy: new Map(),
    onConfirmed: new Set(),
    pins: 0,
    holds: 0,
    isLeased: false,
    usedAt: risingNumber(core.clock.elapsed()),
  }
  return room
}

/** Retries with growing pauses for as long as an act may wait, then throws the last error. */
export async function retryWrite(core: Pick<Core, 'clock' | 'isClosed'>, work: () => Promise<void>): Promise<void> {
  const end = core.clock.elapsed() + 3_000
  for (let pause = 5; ; pause = Math.min(2 * pause, 250)) {
    try {
      return await work()
    } catch (error) {
      if (core.isClosed || core.clock.elapsed() > end) throw error
      await core.clock.sleep(pause)
    }
  }
}

export function unavailableError(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('SERVICE_UNAVAILABLE', { cause })
}

// A single node has no readers of heads, and an opening reads on from an old one. One write for many rooms is cheaper.
const headsMilliseconds = 1_000

function raisingHeads(core: Pick<Core, 'store' | 'clock' | 'isClosed'>): Pick<Core, 'raiseHead' | 'raiseHeadSoon'> {
  const { store, clock } = core
  const due = new Set<Room>()
  let isRaising = false
  let stopWaiting = () => {}
  const write = coalesceRuns(async () => {
    if (store.alone && !core.isClosed)
      await Promise.race([
        clock.sleep(headsMilliseconds),
        new Promise<void>((resolve) => {
          stopWaiting = resolve
        }),
      ])
    const rooms = [...due].filter(({ view }) => view.seq > 0)
    due.clear()
    const heads = rooms.map(({ key, view, materialised }) => ({
      room: key,
      epoch: view.epoch,
      seq: view.seq,
      total: view.total,
      materialised: materialised.at,
    }))
    try {
      if (heads.length > 0) await store.raiseHeads(heads, clock.now())
    } catch (error) {
      for (const room of rooms) due.add(room)
      throw error
    }
    for (const [index, room] of rooms.entries()) room.head.raise(heads[index]?.seq ?? 0)
  })
  async function raiseAll(): Promise<void> {
    isRaising = true
    while (due.size > 0 && !core.isClosed) await retryWrite(core, write).catch(() => {})
    isRaising = false
  }
  return {
    raiseHead(room) {
      due.add(room)
      stopWaiting()
      return write()
    },
    raiseHeadSoon(room) {
      due.add(room)
      if (!isRaising) void raiseAll()
    },
  }
}

function leasing({ store, clock, node, rooms }: Pick<Core, 'store' | 'clock' | 'node' | 'rooms'>): Core['lease'] {
  const due = new Set<RoomKey>()
  const write = coalesceRuns(async () => {
    const leases = [...due].map((room) => ({ room, confirmed: position(rooms.get(room)) }))
    due.clear()
    if (leases.length > 0) await store.writeLeases(node, leases, clock.now(), clock.elapsed())
    for (const { room } of leases) {
      const known = rooms.get(room)
      if (known) known.isLeased = true
    }
  })
  return (keys) => {
    for (const key of keys) due.add(key)
    return write()
  }
}

// No node waits for a closed room.
function position(room: Room | undefined): number {
  return room ? room.confirmed.at : Number.MAX_SAFE_INTEGER
}
