import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { refusalOfCall } from '#server/domains/people/friends/callers'
import { tellOfCall, tellRungOut } from '#server/domains/platform/push/calls'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { cursorAt, cursorPlaceIn } from '#server/kernel/cursors'
import { defineDomain } from '#server/kernel/domain'
import { callChanged, calls as contract, incomingCall } from '#shared/api/calls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { changed, isCorrected, standing, timesOf } from './course.ts'
import { Calls, type StoredCall } from './model.ts'
import { shown, shownOne } from './rows.ts'

const hourSeconds = 3_600
/** By one person, to one other, and to that one from an address. What was called elsewhere is noted more often than anybody rings. */
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
    return { calls: await shown(context.node, page), next: last ? cursorAt(own, last._id) : null }
  },

  async start(input, context) {
    const { account } = signedIn(context)
    const { calleeAddress, callType, status, channelName } = input
    const now = context.node.now()
    const times = timesOf(status, input, now)
    if (isSameAccount(calleeAddress, account))
      throw new AppError('VALIDATION_ERROR', { message: 'You cannot call yourself' })
    await allow(context, status === 'ringing' ? 'rings' : 'call-notes', account, calleeAddress)
    if (!(await accountOf(calleeAddress))) throw new AppError('USER_NOT_FOUND')
    await refuseBlocked(account, calleeAddress)
    const refusal = await refusalOfCall(account, calleeAddress)
    if (refusal !== null && status === 'ringing') throw refusal
    const stored = await kept({
      _id: context.creationId,
      caller_address: account,
      callee_address: calleeAddress,
      call_type: callType,
      status,
      channel_name: channelName ?? null,
      answered_at: null,
      created_at: new Date(now).toISOString(),
      ...times,
      ...(status !== 'ringing' && { is_note: true }),
      ...(refusal !== null && { is_unasked: true }),
    })
    const call = await tell(context, stored)
    if (call.status === 'ringing') {
      context.emit(incomingCall, audiences.account(calleeAddress), {
        from: account,
        channelName: call.channel_name,
        call,
      })
      tellOfCall(context.node, call)
    }
    return { call }
  },

  async change({ callId, ...change }, context) {
    const { account } = signedIn(context)
    for (let attempt = 0; attempt < attempts; attempt++) {
      const stored = await callOf(account, callId)
      const now = context.node.now()
      const call = standing(stored, now)
      const next = changed(call, account, change, now)
      if (next === call) return { call: await shownOne(context.node, call) }
      const { caller_address: caller, callee_address: callee } = call
      if (next.status === 'active' || isCorrected(call, next)) await refuseBlocked(caller, callee)
      // The other one hears of it as of a ring.
      if (isCorrected(call, next))
        await allow(context, 'rings', account, isSameAccount(account, caller) ? callee : caller)
      if (await replace(stored, next)) {
        if (call.status === 'ringing') tellRungOut(context.node, { id: call._id })
        return { call: await tell(context, next) }
      }
    }
    throw new AppError('CONFLICT')
  },
})

/** Who is no party is told the same of a call that is there and of one that is not; so is a callee of a note that is not shown to them. */
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

/** What stands under its id: of a call that is made again with its key, what it made at first. */
async function kept({ _id, ...call }: StoredCall): Promise<StoredCall> {
  const stored = await Calls.findOneAndUpdate(
    { _id },
    { $setOnInsert: call },
    { upsert: true, returnDocument: 'after' },
  ).lean<StoredCall>()
  if (!stored) throw new AppError('CONFLICT')
  return stored
}

/** False where somebody else has changed it meanwhile. */
async function replace({ _id, status, ended_at }: StoredCall, next: StoredCall): Promise<boolean> {
  const { status: to, answered_at, ended_at: end, duration_seconds } = next
  const change = { status: to, answered_at, ended_at: end, duration_seconds }
  return (await Calls.updateOne({ _id, status, ended_at }, { $set: change })).modifiedCount === 1
}

/** Tells the devices of both, and gives what they are told. A callee hears nothing from those who may not ring them. */
async function tell(context: Context, stored: StoredCall) {
  const call = await shownOne(context.node, stored)
  for (const account of [call.caller_address, ...(stored.is_unasked ? [] : [call.callee_address])])
    context.emit(callChanged, audiences.account(account), { call })
  return call
}

async function refuseBlocked(one: string, other: string): Promise<void> {
  if (await areBlocked(one, other)) throw new AppError('BLOCKED', { message: 'You cannot call this user' })
}

/** What is told of a call stands in the other person's list, so each counts. */
async function allow(
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
