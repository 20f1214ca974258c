import type { Arrival, Entry, Heard, LogRow, Send, Snapshot } from './history.ts'
import { empty, type Folded, fold } from './room-state.ts'

/** The faults a run can show; each must be absent. */
export const faultNames = [
  'lost',
  'duplicated',
  'out of order',
  'gaps',
  'wrongly accepted',
  'wrongly refused',
  'unexpected',
  'missing',
  'leaked',
  'contradicted',
  'unrecorded',
] as const
export type FaultName = (typeof faultNames)[number]

export interface Finding {
  fault: FaultName
  room: string
  what: string
}

type Note = (fault: FaultName, what: string) => void

/** Milliseconds by which the clocks of two nodes may differ when slow mode is measured. */
const slowToleranceMilliseconds = 250

/**
 * Checks a history against the logs that were read from the store after all faults had ended. In a `spoilt` room
 * bytes were changed in transit, so that the sent texts are unknown.
 */
export function check(
  history: readonly Entry[],
  logs: ReadonlyMap<string, readonly LogRow[]>,
  spoilt: ReadonlySet<string> = new Set(),
): Finding[] {
  const findings: Finding[] = []
  for (const [room, log] of logs) {
    const note: Note = (fault, what) => void findings.push({ fault, room, what })
    const here = history.filter((entry) => entry.room === room)
    const sends = here.filter((entry) => entry.op === 'send')
    const course = checkLog(log, note)
    checkKeys(log, note)
    checkSends(sends, log, course, note)
    if (!spoilt.has(room)) checkOrigin(sends, log, note)
    const readers = grouped(
      here.filter((entry) => entry.op === 'recv'),
      ({ proc }) => proc,
    )
    for (const heard of readers.values()) checkReader(heard, log, course, note)
    const sockets = grouped(
      here.filter((entry) => entry.op === 'arrive'),
      ({ proc, socket }) => `${proc} ${socket}`,
    )
    for (const arrivals of sockets.values()) checkSocket(arrivals, note)
    checkSnapshots(
      here.filter((entry) => entry.op === 'snapshot'),
      log,
      course,
      note,
    )
  }
  return findings
}

/** Checks that seq has no gap, that time does not go back, and that no row is forbidden by the state before it. Returns the states by seq. */
function checkLog(log: readonly LogRow[], note: Note): Folded[] {
  const course = [empty]
  let [before, messages, at] = [empty, 0, 0]
  for (const [index, row] of log.entries()) {
    if (row.seq !== index + 1) note('gaps', `row ${index + 1} has seq ${row.seq}`)
    if (row.epoch !== log[0]?.epoch) note('gaps', `row ${row.seq} is of another epoch`)
    if (row.at < at) note('out of order', `time runs back at ${row.seq}`)
    if (row.effect.kind === 'message') {
      if (row.effect.n !== ++messages) note('gaps', `message ${messages} has the ordinal ${row.effect.n}`)
      for (const why of forbidden(before, row)) note('wrongly accepted', `seq ${row.seq} of ${row.sender}: ${why}`)
    }
    if (row.effect.kind === 'ban' && before.banned.has(row.effect.who))
      note('duplicated', `a second ban of ${row.effect.who} at ${row.seq}`)
    at = Math.max(at, row.at)
    before = fold(before, row)
    course.push(before)
  }
  return course
}

function forbidden({ members, banned, muted, state, lastAt }: Folded, { sender, at }: LogRow): string[] {
  const spacing = at - (lastAt.get(sender) ?? Number.NEGATIVE_INFINITY)
  return [
    ...(banned.has(sender) ? ['banned'] : []),
    ...(members.has(sender) ? [] : ['not a member']),
    ...(muted.has(sender) ? ['muted'] : []),
    ...(state.rules.read_only ? ['the room is read-only'] : []),
    ...(spacing + slowToleranceMilliseconds < 1_000 * state.rules.slow_mode_seconds
      ? [`slow mode, after ${spacing} ms`]
      : []),
  ]
}

function checkKeys(log: readonly LogRow[], note: Note): void {
  const seen = new Set<string>()
  for (const { seq, sender, cid, id } of log) {
    for (const key of [id, ...(cid === null ? [] : [`${sender} ${cid}`])]) {
      if (seen.has(key)) note('duplicated', `${key} is stored again at ${seq}`)
      seen.add(key)
    }
  }
}

/** Checks that acknowledged messages are stored, after all that were acknowledged before they were sent, and that each refusal was right. */
function checkSends(sends: readonly Send[], log: readonly LogRow[], course: readonly Folded[], note: Note): void {
  const tries = new Map<string, { floor: number; isSure: boolean; acked: number | null }>()
  const stored = new Set(log.map(({ sender, cid }) => `${sender} ${cid}`))
  let head = 0
  for (const send of sends) {
    const key = `${send.account} ${send.cid}`
    const known = tries.get(key) ?? { floor: head, isSure: true, acked: null }
    tries.set(key, known)
    if (send.type === 'info') known.isSure = false
    if (send.type === 'ok') {
      const seq = send.seq ?? 0
      const row = log[seq - 1]
      if (!row || row.id !== send.id || row.sender !== send.account || row.cid !== send.cid)
        note('lost', `${key} was acknowledged at ${seq} and is not there`)
      if (known.acked !== null && known.acked !== seq) note('contradicted', `${key} was acknowledged twice, apart`)
      if (seq <= known.floor) note('out of order', `${key} at ${seq} was asked for after ${known.floor} was answered`)
      known.acked = seq
      head = Math.max(head, seq)
    }
    if (send.type === 'fail') {
      if (known.isSure && stored.has(key)) note('wrongly accepted', `${key} was refused and is stored`)
      const why = unjust(send, known.floor, course)
      if (why) note('wrongly refused', `${key}: ${send.code}, ${why}`)
    }
  }
}

/** Why a refusal was wrong at the seq at which it was judged; null if it was right. */
function unjust({ account, code, seq }: Send, floor: number, course: readonly Folded[]): string | null {
  // Who may not read is told no place: they were so at some seq since.
  const state = seq === 0 ? course.slice(floor).find(({ banned }) => banned.has(account)) : course[seq ?? -1]
  if (!state) return 'judged at no seq of the log'
  if (state.seq < floor) return `judged at ${state.seq}, when ${floor} had been answered`
  const isRight = {
    BANNED: state.banned.has(account),
    NOT_A_MEMBER: !state.members.has(account),
    MUTED: state.muted.has(account),
    READ_ONLY: state.state.rules.read_only,
    SLOW_MODE: state.state.rules.slow_mode_seconds > 0 && state.lastAt.has(account),
  }[code ?? '']
  if (isRight === undefined) return 'which nobody set'
  return isRight ? null : `which did not hold at ${state.seq}`
}

/** Checks that every stored message was sent with this text. */
function checkOrigin(sends: readonly Send[], log: readonly LogRow[], note: Note): void {
  const asked = new Map(
    sends.filter(({ type }) => type === 'invoke').map(({ account, cid, text }) => [`${account} ${cid}`, text]),
  )
  for (const { seq, sender, cid, effect } of log) {
    if (effect.kind !== 'message') continue
    if (asked.get(`${sender} ${cid}`) !== effect.text) note('unexpected', `nobody sent what stands at ${seq}`)
  }
}

const unsaid = { id: null, cid: null, text: null }

/** Checks that a reader showed each row of the log once and in order, up to the end that it may see. */
function checkReader(heard: readonly Heard[], log: readonly LogRow[], course: readonly Folded[], note: Note): void {
  const [{ proc, account } = { proc: '', account: '' }] = heard
  const lastUnbanned = course.findLastIndex(({ banned }) => !banned.has(account))
  let last = (heard[0]?.seq ?? 1) - 1
  for (const { seq, id, cid, epoch, text, isLive } of heard) {
    if (seq === last) note('duplicated', `${proc} showed ${seq} twice`)
    else if (seq < last) note('out of order', `${proc} showed ${seq} after ${last}`)
    else if (seq > last + 1) note('gaps', `${proc} showed ${seq} after ${last}`)
    last = Math.max(last, seq)
    const row = log[seq - 1]
    const told = row?.effect.kind === 'message' ? { id: row.id, cid: row.cid, text: row.effect.text } : unsaid
    const isSame = told.id === id && told.cid === cid && told.text === text
    if (!row || row.epoch !== epoch || !isSame) note('unexpected', `${proc} showed something else at ${seq}`)
    if (isLive && course[seq - 1]?.members.has(account) === false)
      note('leaked', `${proc} heard ${seq} without being a member`)
    if (!isLive && seq > lastUnbanned) note('leaked', `${proc} was given ${seq} while banned`)
  }
  if (last < log.length && course.at(-1)?.members.has(account))
    note('missing', `${proc} never showed ${last + 1} to ${log.length}`)
}

/** Checks that the server sent each row once and in order after a connection had joined. */
function checkSocket(arrivals: readonly Arrival[], note: Note): void {
  let last: number | null = null
  for (const { proc, seq } of arrivals) {
    if (last !== null && seq <= last) note('duplicated', `${proc} was told ${seq} after ${last} on one connection`)
    if (last !== null && seq > last + 1) note('gaps', `${proc} was told ${seq} after ${last} on one connection`)
    last = seq
  }
}

/** Checks that a state and the events after it give the next state. */
function checkSnapshots(
  snapshots: readonly Snapshot[],
  log: readonly LogRow[],
  course: readonly Folded[],
  note: Note,
): void {
  for (const [index, { seq, state, proc }] of snapshots.entries()) {
    const before = snapshots.slice(0, index).findLast((earlier) => earlier.seq <= seq)
    if (!before) continue
    const start = { ...(course[before.seq] ?? empty), state: before.state }
    const folded = log.slice(start.seq, seq).reduce(fold, start)
    if (JSON.stringify(folded.state) !== JSON.stringify(state))
      note('contradicted', `${proc} saw a state at ${seq} that ${start.seq} and the events after it do not make`)
  }
}

export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
