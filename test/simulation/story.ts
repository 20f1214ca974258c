import { projection } from '#server/domains/rooms/room-state/projection'
import { chainOf } from '#server/log/index'
import type { RoomKey, Row } from '#server/log/types'
import type { Deed, Event, Happening } from './history.ts'
import { entryOf } from './product.ts'

const MILLISECONDS_BETWEEN = 10

type Written = { type: string; sender: string; version?: number; milliseconds?: number } & Partial<Row>
type Told = Exclude<Happening, { op: 'already' | 'stored' }> | { op: 'already' }
export type Step = Written | Told

/** A short history made by hand: an item without `op` is a row, and an answer belongs to the last request. */
export function story(...steps: readonly Step[]): Event[] {
  const logs = new Map<RoomKey, Row[]>()
  return steps.map((step, index): Event => {
    const at = index * MILLISECONDS_BETWEEN
    if ('op' in step) return { at, request: 1, ...step } as Event
    const log = logs.get(step.room ?? 'room') ?? []
    const row = rowAfter(log.at(-1), step, at)
    logs.set(row.room, [...log, row])
    return { at, op: 'stored', row }
  })
}

export const asked = (deed: Written): Told => ({
  op: 'asked',
  request: 1,
  node: 'node',
  deed: { room: deed.room ?? 'room', type: deed.type, sender: deed.sender, cid: cidOf(deed) },
})
export const acknowledged = (seq: number): Told => ({
  op: 'acknowledged',
  request: 1,
  seq,
  id: `row${seq}`,
  pending: 0,
})
export const refused = (code: string): Told => ({ op: 'refused', request: 1, code })
export const recorded = (key: string, seq: number, room = 'room'): Told => ({ op: 'recorded', room, key, seq })
export const listens = (user: string): Told => ({ op: 'listens', reader: 'reader', user, room: 'room', node: 'node' })
export const finished = (user: string): Told => ({ op: 'finished', reader: 'reader', user, room: 'room' })
export const told = (...seqs: readonly number[]): Told => ({
  op: 'told',
  reader: 'reader',
  rows: seqs.map((seq) => ({ seq, id: `row${seq}` })),
})

// The same text by the same person is the same act, unless the story contains it more than once.
const cidOf = ({ type, cid }: Written) => cid ?? type

function rowAfter(before: Row | undefined, step: Written, at: number): Row {
  const { version, milliseconds, ...own } = step
  const seq = (before?.seq ?? 0) + 1
  const deed = { room: 'room', cid: `c${seq}`, ...own, version, milliseconds, target: step.target ?? '' } as Deed
  const entry = entryOf(deed, { seq: seq - 1, now: at, members: 1, isMember: true, message: null })
  const isMessage = projection.isMessage(entry.type)
  const total = (before?.total ?? 0) + (isMessage ? 1 : 0)
  const row: Row = {
    _id: `row${seq}`,
    room: 'room',
    seq,
    epoch: 'epoch',
    n: isMessage ? total : null,
    total,
    cid: before?.type === entry.type ? `${step.type} again` : cidOf(step),
    target: null,
    until: null,
    reason: null,
    at,
    chain: before?.chain ?? '',
    chained: projection.isChained(entry.type),
    applied_seq: seq,
    v: 1,
    ...own,
    ...entry,
  }
  if (row.chained) row.chain = chainOf(before?.chain ?? '', row)
  return row
}
