import { isInMeeting } from '#server/domains/meetings/meetings/seats'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { refuseNewContact } from '#server/domains/people/accounts/found'
import { type Profile, profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { refusalOfContact } from '#server/domains/people/friends/contact-permissions'
import { notifyRing, withdrawRing } from '#server/domains/platform/push/event-notices'
import { audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/cursors'
import { type Call, callChanged, calls as contract, incomingCall } from '#shared/api/meetings/calls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { callTimesOf, changedCall, currentCall, isCorrectedCall } from './call-states.ts'
import { Calls, type StoredCall } from './model.ts'

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
