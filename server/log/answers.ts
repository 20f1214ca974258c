import { AppError } from '#shared/errors'
import { type Core, type Room, retryWrite, unavailableError } from './core.ts'
import type { ResolvedFact } from './facts.ts'
import { awaitConfirmations, hasPeers } from './leases.ts'
import { recordsWritten, saveRecords } from './records.ts'
import type { Act, Judgement, Row } from './types.ts'
import type { WaitingAct } from './waiting.ts'

export interface AcceptedAct {
  waiting: WaitingAct<unknown>
  row: Row
  changes: ResolvedFact[]
}

/** A refusal or any other error. */
export interface ThrownRefusal {
  refuse: unknown
}

export interface HeldAct {
  waiting: WaitingAct<unknown>
  judgement: Exclude<Judgement<unknown>, { accept: unknown }> | ThrownRefusal
}

/** Answers the acts whose rows are committed, after the records of these rows are written. */
export async function answerCommitted(
  core: Core,
  room: Room,
  accepted: readonly AcceptedAct[],
  rows: readonly Row[],
): Promise<void> {
  core.policy.reached('before-materialise')
  try {
    const saving = saveRecords(
      core,
      room,
      accepted.flatMap(({ changes }) => changes),
      rows,
    )
    await core.policy.beforeAck(saving)
    await awaitHead(core, room, rows)
  } catch (error) {
    for (const { waiting } of accepted) waiting.refuse(unavailableError(error))
    return
  }
  core.policy.reached('before-ack')
  for (const { waiting, row } of accepted) answer(core, room, waiting, row, false)
  core.policy.reached('after-ack')
}

/**
 * Raises the head, from which other nodes learn of rows without a hint. The answer waits for it if other nodes live,
 * and after rows that apply everywhere. It also waits after the first row: by the head, an opening node decides whether
 * it needs a lease.
 */
async function awaitHead(core: Core, room: Room, rows: readonly Row[]): Promise<void> {
  const last = rows.at(-1)?.seq ?? 0
  if (last <= room.head.at) return
  const isAwaited =
    room.head.at === 0 || hasPeers(core) || rows.some(({ type }) => core.projection.holdsEverywhere(type))
  if (isAwaited && !core.store.alone) await retryWrite(core, () => core.raiseHead(room))
  else core.raiseHeadSoon(room)
}

/** Answers a repeated act with its first row. A key that another act used is refused. */
export function answerDuplicate(core: Core, room: Room, waiting: WaitingAct<unknown>, row: Row): void {
  conclude(waiting, async () => {
    if (!isRepeat(waiting.act, row))
      throw new AppError('CONFLICT', { message: 'This key was used for another request' })
    await core.policy.beforeAck(recordsWritten(core, room, row.seq))
    await awaitHead(core, room, [row])
    answer(core, room, waiting, row, true)
  })
}

const isRepeat = (act: Act<unknown>, row: Row): boolean =>
  row.type === act.makes.type && (act.isRepeat?.(row, row.body) ?? true)

/** Answers a refusal or an "already so". An act that was stored before under the same key gets its first row. */
export function answerHeld(core: Core, room: Room, { waiting, judgement }: HeldAct): void {
  conclude(waiting, async () => {
    const row = await core.policy.beforeRefusal(() => firstRow(core, room, waiting))
    if (row) answerDuplicate(core, room, waiting, row)
    else if ('refuse' in judgement) waiting.refuse(judgement.refuse)
    else waiting.answer({ row: null, body: null, already: judgement.already, view: room.view })
  })
}

/** The row of the caller's key, from the store if the ring may not reach back to it. */
async function firstRow(core: Core, room: Room, { act, cid, key }: WaitingAct<unknown>): Promise<Row | null> {
  if (act.cid === undefined) return null
  const row = room.ring.find(key)
  if (row || room.ring.floor === 0) return row ?? null
  return core.store.byCid(room.key, act.sender, cid)
}

function answer(core: Core, room: Room, waiting: WaitingAct<unknown>, row: Row, duplicate: boolean): void {
  const answered = { row, body: row.body, duplicate, view: room.view }
  if (!core.projection.holdsEverywhere(row.type)) waiting.answer({ ...answered, pendingNodes: 0 })
  else
    conclude(waiting, async () =>
      waiting.answer({ ...answered, pendingNodes: await awaitConfirmations(core, room, row.seq) }),
    )
}

function conclude(waiting: WaitingAct<unknown>, work: () => Promise<void>): void {
  work().catch((error) => waiting.refuse(unavailableError(error)))
}
