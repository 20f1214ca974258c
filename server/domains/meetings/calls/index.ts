import { isInMeeting } from '#server/domains/meetings/meetings/seating'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { refuseNewContact } from '#server/domains/people/accounts/found'
import { type Profile, profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { refusalOfContact } from '#server/domains/people/friends/pairs'
import { notifyRing, withdrawRing } from '#server/domains/platform/push/event-notices'
import { audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/pages'
import {
  type Call,
  type CallStatus,
  callChanged,
  calls as contract,
  incomingCall,
  longestCallSeconds,
  ringSeconds,
} from '#shared/api/meetings/calls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Calls, type StoredCall } from './model.ts'

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
function currentCall(call: StoredCall, now: number): StoredCall {
  const { status, started_at, answered_at } = call
  const rungOut = Date.parse(started_at) + ringSeconds * 1_000
  if (status === 'ringing' && now >= rungOut) return { ...call, status: 'missed', ended_at: timeAt(rungOut) }
  const forgotten = Date.parse(answered_at ?? started_at) + longestCallSeconds * 1_000
  return status === 'active' && now >= forgotten ? { ...call, status: 'failed' } : call
}

/** The times of a ringing call, or of one that is reported afterwards. */
function callTimesOf(status: CallStatus, report: ReportedEnd, now: number): Times {
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
function changedCall(
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
const isCorrectedCall = (before: StoredCall, { status }: StoredCall): boolean =>
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

const hourSeconds = 3_600
/** By one account, to one other, and from an address to that one. Notes of calls elsewhere are more frequent than rings. */
const mostAnHour = {
  rings: { by: 60, to: 10, from: 30 },
  'call-notes': { by: 120, to: 60, from: 120 },
} as const
const attempts = 5

export const calls = defineDomain(contract, {
  async list({ limit, before }, context) {
    const { account } = signedIn(context)
    const own = `calls ${account}` as const
    const from = before === undefined ? undefined : cursorPlaceIn(own, before)
    const page = await newestOf(account, limit, from)
    const last = page.length === limit ? page.at(-1) : undefined
    return { calls: await renderCalls(context.node, page), next: last ? cursorAt(own, last._id) : null }
  },

  async start(input, context) {
    const { account } = signedIn(context)
    const { calleeAddress, callType, status, channelName } = input
    const now = context.node.now()
    const times = callTimesOf(status, input, now)
    if (isSameAccount(calleeAddress, account))
      throw new AppError('VALIDATION_ERROR', { message: 'You cannot call yourself' })
    await refuseTooMany(context, status === 'ringing' ? 'rings' : 'call-notes', account, calleeAddress)
    await refuseNewContact(calleeAddress)
    await refuseBlocked(account, calleeAddress)
    const refusal = await refusalOfContact('calls_from', account, calleeAddress)
    if (refusal !== null && status === 'ringing') throw refusal
    // A callee in a meeting is not rung, and sees the call as missed.
    const isBusy = status === 'ringing' && (await isInMeeting(context.node, calleeAddress))
    const stored = await storeCall({
      _id: context.creationId,
      caller_address: account,
      callee_address: calleeAddress,
      call_type: callType,
      status,
      channel_name: channelName ?? null,
      answered_at: null,
      created_at: new Date(now).toISOString(),
      ...times,
      ...(isBusy && { status: 'missed', ended_at: times.started_at }),
      ...(status !== 'ringing' && { is_note: true }),
      ...(refusal !== null && { is_unasked: true }),
    })
    const call = await notifyParties(context, stored)
    if (call.status === 'ringing') {
      context.emit(incomingCall, audiences.account(calleeAddress), {
        from: account,
        channelName: call.channel_name,
        call,
      })
      notifyRing(context.node, call)
    }
    return { call }
  },

  async change({ callId, ...change }, context) {
    const { account } = signedIn(context)
    for (let attempt = 0; attempt < attempts; attempt++) {
      const stored = await callOf(account, callId)
      const now = context.node.now()
      const call = currentCall(stored, now)
      const next = changedCall(call, account, change, now)
      if (next === call) return { call: await renderCall(context.node, call) }
      const { caller_address: caller, callee_address: callee } = call
      if (next.status === 'active' || isCorrectedCall(call, next)) await refuseBlocked(caller, callee)
      // The other party is notified as by a ring.
      if (isCorrectedCall(call, next))
        await refuseTooMany(context, 'rings', account, isSameAccount(account, caller) ? callee : caller)
      if (await replace(stored, next)) {
        if (call.status === 'ringing') withdrawRing(context.node, { id: call._id })
        return { call: await notifyParties(context, next) }
      }
    }
    throw new AppError('CONFLICT')
  },
})

/** Strangers get one answer for existing and missing calls; so do callees of hidden notes. */
async function callOf(account: string, _id: string): Promise<StoredCall> {
  const call = await Calls.findOne({ _id }).lean<StoredCall>()
  const parties = call && [call.caller_address, ...(call.is_unasked ? [] : [call.callee_address])]
  if (call && parties?.includes(account)) return call
  throw new AppError('ACCESS_DENIED', { message: 'You are no party of this call' })
}

async function newestOf(account: string, limit: number, before: string | undefined): Promise<StoredCall[]> {
  const older = before === undefined ? {} : { _id: { $lt: before } }
  const ends = await Promise.all(
    (['caller_address', 'callee_address'] as const).map((end) =>
      Calls.find({ [end]: account, ...(end === 'callee_address' && { is_unasked: { $ne: true } }), ...older })
        .sort({ _id: -1 })
        .limit(limit)
        .lean<StoredCall[]>(),
    ),
  )
  return ends
    .flat()
    .sort((one, other) => (one._id < other._id ? 1 : -1))
    .slice(0, limit)
}

/** Stores a call, or returns the stored one of the same key. */
async function storeCall({ _id, ...call }: StoredCall): Promise<StoredCall> {
  const stored = await Calls.findOneAndUpdate(
    { _id },
    { $setOnInsert: call },
    { upsert: true, returnDocument: 'after' },
  ).lean<StoredCall>()
  if (!stored) throw new AppError('CONFLICT')
  return stored
}

/** False if the call changed meanwhile. */
async function replace({ _id, status, ended_at }: StoredCall, next: StoredCall): Promise<boolean> {
  const { status: to, answered_at, ended_at: end, duration_seconds } = next
  const change = { status: to, answered_at, ended_at: end, duration_seconds }
  return (await Calls.updateOne({ _id, status, ended_at }, { $set: change })).modifiedCount === 1
}

/** Sends the call to both parties, and returns it. A callee gets nothing of unwanted notes. */
async function notifyParties(context: Context, stored: StoredCall) {
  const call = await renderCall(context.node, stored)
  for (const account of [call.caller_address, ...(stored.is_unasked ? [] : [call.callee_address])])
    context.emit(callChanged, audiences.account(account), { call })
  return call
}

async function refuseBlocked(one: string, other: string): Promise<void> {
  if (await areBlocked(one, other)) throw new AppError('BLOCKED', { message: 'You cannot call this user' })
}

/** Limits calls and notes, as each appears in the other's list. */
async function refuseTooMany(
  { node: { limits }, caller: { ip } }: Context,
  what: keyof typeof mostAnHour,
  from: string,
  to: string,
): Promise<void> {
  const most = mostAnHour[what]
  const allowed =
    (await limits.guard(`${what}-by`, from, most.by, hourSeconds)) &&
    (await limits.guard(`${what}-to`, `${from} ${to}`, most.to, hourSeconds)) &&
    (await limits.guard(`${what}-from`, `${ip} ${to}`, most.from, hourSeconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

/** Renders calls as they are now, with both profiles. */
async function renderCalls(node: Node, calls: readonly StoredCall[]): Promise<Call[]> {
  const profiles = await profilesOf(
    node,
    calls.flatMap(({ caller_address, callee_address }) => [caller_address, callee_address]),
  )
  const now = node.now()
  return calls.map((stored) => {
    const { _id: id, answered_at: _, is_note: __, is_unasked: ___, ...call } = currentCall(stored, now)
    const { caller_address, callee_address } = call
    return { id, ...call, caller: partyIn(profiles, caller_address), callee: partyIn(profiles, callee_address) }
  })
}

async function renderCall(node: Node, stored: StoredCall): Promise<Call> {
  const [call] = await renderCalls(node, [stored])
  if (!call) throw new Error('A call is shown as one')
  return call
}

function partyIn(profiles: ReadonlyMap<string, Profile>, address: string): Call['caller'] {
  const { username, display_name, avatar_url } = profiles.get(address) ?? profileOf({ _id: address })
  return { address, username, display_name, avatar_url }
}
