import { type CallStatus, longestCallSeconds, ringSeconds } from '#shared/api/meetings/calls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { StoredCall } from './model.ts'

/** The end of a call as a client reports it; missing fields follow from the rest. */
interface ReportedEnd {
  startedAt?: string | undefined
  endedAt?: string | null | undefined
  durationSeconds?: number | undefined
}
type Times = Pick<StoredCall, 'started_at' | 'ended_at' | 'duration_seconds'>

/** How far the clocks of clients may be ahead. */
const aheadMilliseconds = 60_000

const nextStates: { readonly [From in CallStatus]: readonly CallStatus[] } = {
  ringing: ['active', 'completed', 'missed', 'declined', 'failed'],
  active: ['completed', 'failed'],
  completed: [],
  missed: [],
  declined: [],
  failed: [],
}
const ofCallee: readonly CallStatus[] = ['active', 'declined']
const withoutTalk: readonly CallStatus[] = ['missed', 'declined']
const goesOn = (status: CallStatus) => nextStates[status].length > 0
/** Outcomes of a note that may be corrected. */
const corrigible: readonly CallStatus[] = ['missed', 'declined', 'failed']

/** The current call: an unanswered ring is missed, and a call without an end for a day has failed. */
export function currentCall(call: StoredCall, now: number): StoredCall {
  const { status, started_at, answered_at } = call
  const rungOut = Date.parse(started_at) + ringSeconds * 1_000
  if (status === 'ringing' && now >= rungOut) return { ...call, status: 'missed', ended_at: timeAt(rungOut) }
  const forgotten = Date.parse(answered_at ?? started_at) + longestCallSeconds * 1_000
  return status === 'active' && now >= forgotten ? { ...call, status: 'failed' } : call
}

/** The times of a ringing call, or of one that is reported afterwards. */
export function callTimesOf(status: CallStatus, report: ReportedEnd, now: number): Times {
  const { startedAt, endedAt, durationSeconds } = report
  if (goesOn(status)) {
    if (startedAt || endedAt || durationSeconds) throw invalidError('A call that rings begins now, and has no end yet')
    return { started_at: timeAt(now), ended_at: null, duration_seconds: 0 }
  }
  const before = (endedAt ? Date.parse(endedAt) : now) - (durationSeconds ?? 0) * 1_000
  const started = startedAt ? Date.parse(startedAt) : durationSeconds === undefined ? now : before
  if (started > now + aheadMilliseconds) throw invalidError('startedAt is in the future')
  return { started_at: timeAt(started), ...endOf(status, started, status === 'completed', report, now) }
}

/** The call after a report of a party; unchanged if it is known. Throws if it would go back. */
export function changedCall(
  call: StoredCall,
  by: string,
  change: ReportedEnd & { status?: CallStatus | undefined },
  now: number,
): StoredCall {
  const { status = call.status } = change
  const isNews = status !== call.status
  if (isNews && call.is_note && corrigible.includes(call.status) && !goesOn(status))
    return corrected(call, status, change, now)
  if (isNews && !nextStates[call.status].includes(status)) throw pastStateError(call)
  if (isNews && ofCallee.includes(status) && !isSameAccount(by, call.callee_address))
    throw new AppError('FORBIDDEN', { message: 'Only who is called answers or declines' })
  if (goesOn(status)) {
    if (change.endedAt || change.durationSeconds) throw invalidError('Say by the status how the call ended')
    return isNews ? { ...call, status, answered_at: timeAt(now) } : call
  }
  if (call.ended_at !== null) {
    if (contradicts(call, change)) throw pastStateError(call)
    return call
  }
  const { endedAt, durationSeconds } = change
  const isReported = Boolean(endedAt) || durationSeconds !== undefined
  if (!isNews && !isReported) return call
  const from = call.answered_at ?? call.started_at
  const report = isReported ? change : { endedAt: timeAt(Math.max(now, Date.parse(from))) }
  const isAnswered = status === 'completed' || call.answered_at !== null
  return { ...call, status, ...endOf(status, Date.parse(from), isAnswered, report, now) }
}

/** Whether a report changes the outcome of a call that was over. */
export const isCorrectedCall = (before: StoredCall, { status }: StoredCall): boolean =>
  !goesOn(before.status) && status !== before.status

/** A note with another outcome. Times that are not reported stay, without a length if nobody talked. */
function corrected(call: StoredCall, status: CallStatus, report: ReportedEnd, now: number): StoredCall {
  const { started_at, ended_at, duration_seconds } = call
  const isReported = Boolean(report.endedAt) || report.durationSeconds !== undefined
  const kept = { ended_at, duration_seconds: withoutTalk.includes(status) ? 0 : duration_seconds }
  const times = isReported ? endOf(status, Date.parse(started_at), status === 'completed', report, now) : kept
  return { ...call, status, ...times }
}

const contradicts = (call: StoredCall, { endedAt, durationSeconds }: ReportedEnd): boolean =>
  (Boolean(endedAt) && timeAt(Date.parse(endedAt ?? '')) !== call.ended_at) ||
  (durationSeconds !== undefined && durationSeconds !== call.duration_seconds)

/** `from` is when the call was answered, as far as known. */
function endOf(status: CallStatus, from: number, isAnswered: boolean, report: ReportedEnd, now: number) {
  const { startedAt, endedAt, durationSeconds: length } = report
  if (withoutTalk.includes(status) && length) throw invalidError(`durationSeconds: a call that was ${status} has none`)
  const after = from + (length ?? 0) * 1_000
  // A time that no client reported is not ahead of the server.
  const measured = startedAt ? after : Math.min(after, Math.max(now, from))
  const ended = endedAt ? Date.parse(endedAt) : length === undefined ? null : measured
  if (ended === null) return { ended_at: null, duration_seconds: 0 }
  if (ended > now + aheadMilliseconds) throw invalidError('endedAt is in the future')
  if (ended < from) throw invalidError('endedAt is before the call began')
  const span = Math.floor((ended - from) / 1_000)
  if (span > longestCallSeconds) throw invalidError('A call takes a day at most')
  if (length !== undefined && length > span + 1) throw invalidError('durationSeconds is longer than the call')
  const talked = isAnswered && !withoutTalk.includes(status) ? span : 0
  return { ended_at: timeAt(ended), duration_seconds: length ?? talked }
}

const timeAt = (milliseconds: number) => new Date(milliseconds).toISOString()
const invalidError = (message: string) => new AppError('VALIDATION_ERROR', { message })
const pastStateError = ({ status }: StoredCall) =>
  new AppError('CONFLICT', { message: `This call is ${status} already` })
