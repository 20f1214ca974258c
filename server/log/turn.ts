import { AppError } from '#shared/errors'
import { isFieldName } from '#shared/kit/field-name'
import {
  type AcceptedAct,
  answerCommitted,
  answerDuplicate,
  answerHeld,
  type HeldAct,
  type ThrownRefusal,
} from './answers.ts'
import { appendRows } from './append.ts'
import { type Core, isIsolated, type Room, unavailableError } from './core.ts'
import { deliverRows } from './follower.ts'
import { mayAct, renewLeases } from './leases.ts'
import { turnRows } from './limits.ts'
import { loadFacts } from './records.ts'
import { type Entry, GLOBAL, type Judgement, type Row } from './types.ts'
import { Draft } from './view.ts'
import type { WaitingAct } from './waiting.ts'

const maxDepth = 100
const maxBytes = 16 * 1_024 * 1_024
/** The most bytes of UTF-8 for one unit of UTF-16. */
const bytesAUnit = 3
const bytesAValue = 16

/** Refuses a body that the encoder of either store refuses, as each repeat of the insert would fail too. */
function checkStorable(body: object): void {
  const fault = faultOf(body)
  if (fault !== null) throw new AppError('VALIDATION_ERROR', { message: `This cannot be stored: ${fault}` })
}

function faultOf(body: object): string | null {
  let level: unknown[] = [body]
  let bytes = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return 'nested too deep'
    const next: unknown[] = []
    for (const value of level) {
      bytes += bytesAValue
      if (typeof value === 'string') bytes += value.length * bytesAUnit
      else if (Array.isArray(value)) for (const item of value) next.push(item)
      else if (isFields(value)) {
        for (const name in value) {
          if (!isFieldName(name)) return 'the name of a field'
          bytes += name.length * bytesAUnit
          next.push(value[name])
        }
      } else if (!isScalar(value)) return 'the type of a value'
    }
    if (bytes > maxBytes) return 'too large'
    level = next
  }
  return null
}

const isScalar = (value: unknown): boolean => value == null || typeof value === 'number' || typeof value === 'boolean'

function isFields(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

// After a race or another node's turn, that node's next turn is expected within this time.
const contestedMilliseconds = 1_000
// For a turn of fewer acts, judging again costs less than waiting.
const crowdedActs = 8
// Another node's turn may be larger than ours, and takes a round trip. The wait is limited, because a node may die.
const timesLonger = 8
const givingWayMilliseconds = 200
const lookAgainMilliseconds = 20
const longestTurnMilliseconds = 5_000

/** The result of judging a batch, before anything is stored. */
interface Judged {
  draft: Draft
  accepted: AcceptedAct[]
  /** Refusals and "already so", which depend on all rows before them. */
  held: HeldAct[]
  /** Acts to be judged again: repeated in this turn, or in need of facts. */
  again: WaitingAct<unknown>[]
  /** Acts that are refused now, although an earlier insert may still be found stored. */
  inDoubt: WaitingAct<unknown>[]
}

export function enqueueAct(core: Core, room: Room, waiting: WaitingAct<unknown>): void {
  if (isIsolated(room)) waiting.refuse(unavailableError(undefined))
  else room.queue.push(waiting)
  if (!room.isTurning) void takeTurns(core, room)
}

/** Takes one turn at a time. Acts that arrive during an insert make the next turn. */
async function takeTurns(core: Core, room: Room): Promise<void> {
  room.isTurning = true
  await null
  while (room.queue.length > 0 && !core.isClosed) {
    room.turnBegan = core.clock.elapsed()
    await takeTurn(core, room)
    if (isIsolated(room)) core.observer?.released?.(room.key, core.clock.elapsed() - room.turnBegan)
    room.overdue = 0
    room.turnBegan = Number.POSITIVE_INFINITY
  }
  room.isTurning = false
}

/** A room whose turn does not end refuses new acts at once, and is reported. */
export function isolateStuck(core: Core): void {
  const now = core.clock.elapsed()
  for (const room of core.rooms.values()) {
    if (isIsolated(room) || now - room.turnBegan <= longestTurnMilliseconds) continue
    room.overdue++
    if (isIsolated(room)) core.observer?.isolated?.(room.key)
  }
}

async function takeTurn(core: Core, room: Room): Promise<void> {
  if (!mayAct(core)) return orPause(core, renewLeases(core))
  const batch = room.queue.splice(0, turnRows).filter((waiting) => !waiting.isSettled)
  try {
    await decide(core, room, batch)
  } catch (error) {
    for (const waiting of batch) if (!waiting.isSettled) waiting.refuse(error)
  }
}

async function decide(core: Core, room: Room, batch: readonly WaitingAct<unknown>[]): Promise<void> {
  const began = core.clock.elapsed()
  const judged = judge(core, room, batch)
  const stale = judged.held.filter(({ waiting }) => !isFresh(core, room, waiting))
  const help = orPause(core, fetchMissing(core, room, judged.draft, stale.length > 0))
  const { undecided, areAllCommitted } = await store(core, room, judged.accepted)
  const again = [...judged.again, ...judged.inDoubt, ...undecided]
  if (core.policy.mayRefuse(areAllCommitted)) {
    for (const held of judged.held) if (!stale.includes(held)) answerHeld(core, room, held)
    backToQueue(room, batch, [...again, ...stale.map(({ waiting }) => waiting)])
  } else {
    backToQueue(room, batch, [...again, ...judged.held.map(({ waiting }) => waiting)])
  }
  await help
  if (judged.inDoubt.length > 0) await orPause(core, lookAgain(core, room))
  const now = core.clock.elapsed()
  if (areAllCommitted && now - room.contestedAt < contestedMilliseconds)
    await giveWay(
      core,
      room,
      batch.length < crowdedActs ? 0 : Math.min(timesLonger * (now - began), givingWayMilliseconds),
    )
}

/**
 * Two nodes that send to one room take turns, because one of two simultaneous inserts always fails. Meanwhile acts
 * gather, so that turns grow instead of failing.
 */
async function giveWay(core: Core, room: Room, waitMilliseconds: number): Promise<void> {
  let isTaken = false
  await new Promise<void>((resolve) => {
    room.onOthers = () => {
      isTaken = true
      resolve()
    }
    void core.clock.sleep(2 + waitMilliseconds + 2 * core.random()).then(resolve)
  })
  room.onOthers = null
  if (isTaken) room.contestedAt = core.clock.elapsed()
  else if (waitMilliseconds > 0) room.contestedAt = Number.NEGATIVE_INFINITY
}

function judge(core: Core, room: Room, batch: readonly WaitingAct<unknown>[]): Judged {
  const draft = new Draft(room.view)
  const judged: Judged = { draft, accepted: [], held: [], again: [], inDoubt: [] }
  const keys = new Set<string>()
  const clock = core.clock.now()
  for (const waiting of batch) {
    const stored = room.ring.find(waiting.key)
    if (stored) {
      answerDuplicate(core, room, waiting, stored)
      continue
    }
    const now = core.policy.timeOf(draft.at, clock)
    const judgement = keys.has(waiting.key) ? null : judgeOne(draft, waiting, now)
    // After a missing fact, further acts are judged only to find the facts that they need.
    if (!judgement || !draft.isComplete()) {
      judged.again.push(waiting)
      continue
    }
    const laid = 'accept' in judgement ? layOver(core, draft, judgement.accept, waiting, now) : judgement
    if (!laid) judged.again.push(waiting)
    else if ('row' in laid) {
      judged.accepted.push({ waiting, ...laid })
      keys.add(waiting.key)
    } else if (waiting.mayBeStoredAt > room.view.seq) judged.inDoubt.push(waiting)
    else judged.held.push({ waiting, judgement: laid })
  }
  return judged
}

/** A judgement that throws refuses. Like any refusal it waits for a fresh view. */
function judgeOne(draft: Draft, waiting: WaitingAct<unknown>, now: number): Judgement<unknown> | ThrownRefusal | null {
  try {
    return waiting.act.judge(draft, now)
  } catch (error) {
    // A judgement may fail in any way if a fact is missing.
    return draft.isComplete() ? { refuse: error } : null
  }
}

/** An entry that no store or projection can handle is refused before it is stored. */
function layOver(core: Core, draft: Draft, entry: Entry, waiting: WaitingAct<unknown>, now: number) {
  const { makes } = waiting.act
  try {
    if (entry.type !== makes.type) throw new Error(`An act that makes ${makes.type} appended ${entry.type}`)
    checkStorable(entry.body)
    core.check?.(entry)
    return draft.append(entry, waiting.act.sender, waiting.cid, now, core)
  } catch (error) {
    return { refuse: error }
  }
}

interface Stored {
  /** The acts without an answer, whose rows are not committed. */
  undecided: WaitingAct<unknown>[]
  /** Whether later judgements on the draft are valid, because all of its rows are committed. */
  areAllCommitted: boolean
}

/** Stores the rows and answers their acts. */
async function store(core: Core, room: Room, accepted: readonly AcceptedAct[]): Promise<Stored> {
  if (accepted.length === 0) return { undecided: [], areAllCommitted: true }
  const rows = accepted.map(({ row }) => row)
  const deciding = appendRows(core, room, rows)
  core.inFlight.add(deciding)
  const { committed, repeated, isInDoubt, refused } = await deciding.finally(() => core.inFlight.delete(deciding))
  if (committed > 0) commitRows(core, room, accepted.slice(0, committed), rows.slice(0, committed))
  if (isInDoubt) for (const { waiting, row } of accepted.slice(committed)) waiting.mayBeStoredAt = row.seq
  const undecided = accepted.slice(committed).map(({ waiting }) => waiting)
  const areAllCommitted = undecided.length === 0
  const [first] = undecided
  if (!first || !(repeated || refused)) return { undecided, areAllCommitted }
  if (repeated) answerDuplicate(core, room, first, repeated)
  else
    first.refuse(
      core.isNeverSent(refused) ? new AppError('VALIDATION_ERROR', { cause: refused }) : unavailableError(refused),
    )
  return { undecided: undecided.slice(1), areAllCommitted }
}

function commitRows(core: Core, room: Room, accepted: readonly AcceptedAct[], rows: readonly Row[]): void {
  room.usedAt.raise(core.clock.elapsed())
  core.observer?.appended(rows)
  deliverRows(core, room, rows, true)
  core.policy.reached('before-publish')
  core.hints.publish({ kind: 'rows', node: core.node, rows })
  core.observer?.hinted('published', rows.length)
  void answerCommitted(core, room, accepted, rows)
}

/** Resolves when every missing fact is in memory, so that the next judgement makes progress. */
async function fetchMissing(core: Core, room: Room, draft: Draft, isStale: boolean): Promise<void> {
  const global = core.rooms.get(GLOBAL)
  const { missing } = draft.global
  await Promise.all([
    loadFacts(core, room, draft.missing),
    global && global !== room && loadFacts(core, global, missing),
    isStale && bringToHead(core, room),
  ])
}

/** Reads the log again, which shows whether rows in doubt were stored. */
async function lookAgain(core: Core, room: Room): Promise<void> {
  await core.clock.sleep(lookAgainMilliseconds)
  await room.refresh()
}

/** Reads this room and `global` to the head, by reads that begin after the call. */
export async function bringToHead(core: Core, room: Room): Promise<void> {
  if (core.store.alone) return
  const global = core.rooms.get(GLOBAL)
  await Promise.all([room.refresh(), room !== global && global?.refresh()])
}

/** Was the view read to the head after the act came? The view of a single node always is the head. */
function isFresh(core: Core, room: Room, { arrived }: WaitingAct<unknown>): boolean {
  if (core.store.alone) return true
  const readAt = Math.min(room.freshTick.at, core.rooms.get(GLOBAL)?.freshTick.at ?? 0)
  return core.policy.isFresh(readAt, arrived)
}

function backToQueue(room: Room, batch: readonly WaitingAct<unknown>[], back: readonly WaitingAct<unknown>[]): void {
  if (back.length === 0) return
  const returning = new Set(back)
  room.queue.unshift(...batch.filter((waiting) => returning.has(waiting) && !waiting.isSettled))
}

/** On failure the acts stay in the queue and are repeated until their time is over. */
async function orPause(core: Core, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch {
    await core.clock.sleep(20)
  }
}
