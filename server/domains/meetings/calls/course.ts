import { type CallStatus, longestCallSeconds, ringSeconds } from '#shared/api/calls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { StoredCall } from './model.ts'

/** What a client says of the end of a call; what is left out follows from the rest. */
interface SaidEnd {
  startedAt?: string | undefined
  endedAt?: string | null | undefined
  durationSeconds?: number | undefined
}
type Times = Pick<StoredCall, 'started_at' | 'ended_at' | 'duration_seconds'>

/** How far the clocks of clients may be ahead. */
const aheadMilliseconds = 60_000

const onwards: { readonly [From in CallStatus]: readonly CallStatus[] } = {
  ringing: ['active', 'completed', 'missed', 'declined', 'failed'],
  active: ['completed', 'failed'],
  completed: [],
  missed: [],
  declined: [],
  failed: [],
}
const ofCallee: readonly CallStatus[] = ['active', 'declined']
const withoutTalk: readonly CallStatus[] = ['missed', 'declined']
const goesOn = (status: CallStatus) => onwards[status].length > 0
/** What somebody noted of a call that came to nothing, and may be noted otherwise later. */
const corrigible: readonly CallStatus[] = ['missed', 'declined', 'failed']

/** A call as it stands now: one that has rung too long is missed, and one of which nobody has said for a day that it ended has failed. */
export function standing(call: StoredCall, now: number): StoredCall {
  const { status, started_at, answered_at } = call
  const rungOut = Date.parse(started_at) + ringSeconds * 1_000
  if (status === 'ringing' && now >= rungOut) return { ...call, status: 'missed', ended_at: timeAt(rungOut) }
  const forgotten = Date.parse(answered_at ?? started_at) + longestCallSeconds * 1_000
  return status === 'active' && now >= forgotten ? { ...call, status: 'failed' } : call
}

/** The times of a call that rings now, or that is told once it is over. */
export function timesOf(status: CallStatus, said: SaidEnd, now: number): Times {
  const { startedAt, endedAt, durationSeconds } = said
  if (goesOn(status)) {
    if (startedAt || endedAt || durationSeconds) throw invalid('A call that rings begins now, and has no end yet')
    return { started_at: timeAt(now), ended_at: null, duration_seconds: 0 }
  }
  const before = (endedAt ? Date.parse(endedAt) : now) - (durationSeconds ?? 0) * 1_000
  const started = startedAt ? Date.parse(startedAt) : durationSeconds === undefined ? now : before
  if (started > now + aheadMilliseconds) throw invalid('startedAt is in the future')
  return { started_at: timeAt(started), ...endOf(status, started, status === 'completed', said, now) }
}

/** The call after what one of the two says of it; itself where that is known. Throws where it would go back. */
export function changed(
  call: StoredCall,
  by: string,
  change: SaidEnd & { status?: CallStatus | undefined },
  now: number,
): StoredCall {
  const { status = call.status } = change
  const isNews = status !== call.status
  if (isNews && call.is_note && corrigible.includes(call.status) && !goesOn(status))
    return corrected(call, status, change, now)
  if (isNews && !onwards[call.status].includes(status)) throw past(call)
  if (isNews && ofCallee.includes(status) && !isSameAccount(by, call.callee_address))
    throw new AppError('FORBIDDEN', { message: 'Only who is called answers or declines' })
  if (goesOn(status)) {
    if (change.endedAt || change.durationSeconds) throw invalid('Say by the status how the call ended')
    return isNews ? { ...call, status, answered_at: timeAt(now) } : call
  }
  if (call.ended_at !== null) {
    if (contradicts(call, change)) throw past(call)
    return call
  }
  const { endedAt, durationSeconds } = change
  const isTold = Boolean(endedAt) || durationSeconds !== undefined
  if (!isNews && !isTold) return call
  const from = call.answered_at ?? call.started_at
  const said = isTold ? change : { endedAt: timeAt(Math.max(now, Date.parse(from))) }
  const isAnswered = status === 'completed' || call.answered_at !== null
  return { ...call, status, ...endOf(status, Date.parse(from), isAnswered, said, now) }
}

/** Is the call noted otherwise than it was, when it was over already? */
export const isCorrected = (before: StoredCall, { status }: StoredCall): boolean =>
  !goesOn(before.status) && status !== before.status

/** A note with another outcome; times that are not said stay, but for the length of what was no talk. */
function corrected(call: StoredCall, status: CallStatus, said: SaidEnd, now: number): StoredCall {
  const { started_at, ended_at, duration_seconds } = call
  const isTold = Boolean(said.endedAt) || said.durationSeconds !== undefined
  const kept = { ended_at, duration_seconds: withoutTalk.includes(status) ? 0 : duration_seconds }
  const times = isTold ? endOf(status, Date.parse(started_at), status === 'completed', said, now) : kept
  return { ...call, status, ...times }
}

const contradicts = (call: StoredCall, { endedAt, durationSeconds }: SaidEnd): boolean =>
  (Boolean(endedAt) && timeAt(Date.parse(endedAt ?? '')) !== call.ended_at) ||
  (durationSeconds !== undefined && durationSeconds !== call.duration_seconds)

/** `from` is when the two began to talk, as far as that is known. */
function endOf(status: CallStatus, from: number, isAnswered: boolean, said: SaidEnd, now: number) {
  const { startedAt, endedAt, durationSeconds: length } = said
  if (withoutTalk.includes(status) && length) throw invalid(`durationSeconds: a call that was ${status} has none`)
  const after = from + (length ?? 0) * 1_000
  // What no clock of a client has said is not ahead.
  const measured = startedAt ? after : Math.min(after, Math.max(now, from))
  const ended = endedAt ? Date.parse(endedAt) : length === undefined ? null : measured
  if (ended === null) return { ended_at: null, duration_seconds: 0 }
  if (ended > now + aheadMilliseconds) throw invalid('endedAt is in the future')
  if (ended < from) throw invalid('endedAt is before the call began')
  const span = Math.floor((ended - from) / 1_000)
  if (span > longestCallSeconds) throw invalid('A call takes a day at most')
  if (length !== undefined && length > span + 1) throw invalid('durationSeconds is longer than the call')
  const talked = isAnswered && !withoutTalk.includes(status) ? span : 0
  return { ended_at: timeAt(ended), duration_seconds: length ?? talked }
}

const timeAt = (milliseconds: number) => new Date(milliseconds).toISOString()
const invalid = (message: string) => new AppError('VALIDATION_ERROR', { message })
const past = ({ status }: StoredCall) => new AppError('CONFLICT', { message: `This call is ${status} already` })
