import { withdraw } from '#server/domains/payments/settle'
import { tellOfCancelling } from '#server/domains/push/doings'
import { Calls, type StoredCall } from '#server/domains/scheduling/model'
import { type Context, signedIn } from '#server/kernel/context'
import type { booking as contract, EmailedTo } from '#shared/api/booking'
import { AppError } from '#shared/errors'
import type { InputOf, OutputOf } from '#shared/kit/contract'
import { writeToCalendar } from './calendar-event.ts'
import { isHeld } from './holds.ts'
import { askerOf, sendInvitation, tellByLetter } from './letters.ts'
import { nameOfAccount, statusOf } from './shown.ts'

/** The call of an invitation. The first time that anybody but its host sees it so is noted. */
export async function openInvitation({ node, caller }: Context, invite_token: string): Promise<StoredCall> {
  const call = await Calls.findOne({ invite_token }).lean<StoredCall>()
  if (!call) throw new AppError('CALL_NOT_FOUND')
  if (call.invite_opened_at === null && caller.account !== call.recipient_wallet_address)
    await Calls.updateOne(
      { _id: call._id, invite_opened_at: null },
      { $set: { invite_opened_at: new Date(node.now()) } },
    )
  return call
}

/** Cancels a call, for good; what was cancelled before is given as it is. Nobody is asked to settle its payment from then on. */
export async function cancelCall(context: Context, _id: string, token: string | undefined): Promise<StoredCall> {
  const { account } = context.caller
  const now = context.node.now()
  const call = await Calls.findOne({ _id }).lean<StoredCall>()
  const isParty = account !== null && call?.parties.includes(account)
  const holdsToken = call !== null && token === call.invite_token
  if (!call || !(isParty || holdsToken)) throw new AppError('CALL_NOT_FOUND')
  if (!isParty && call.scheduler_wallet_address !== null)
    throw new AppError('FORBIDDEN', { message: 'Only its host and who booked it cancel this call' })
  if (call.status === 'cancelled') return call
  if (statusOf(call, now) === 'completed') throw new AppError('CALL_OVER')
  const cancelled = await cancelledNow(call, now)
  if (cancelled) {
    await tellByLetter(context.node, cancelled, { method: 'CANCEL', by: askerOf(context) })
    // Of one that is not paid for nobody was told yet.
    if (!isHeld(call)) tellOfCancelling(context.node, cancelled, await cancellerOf(context, cancelled))
    await writeToCalendar(context.node, cancelled)
  }
  return cancelled ?? (await Calls.findOne({ _id }).lean<StoredCall>()) ?? call
}

/** Who cancels a call, as the others are told: one of its parties, or the guest who has its token. */
const cancellerOf = async ({ node, caller: { account } }: Context, { parties, guest_name }: StoredCall) =>
  account !== null && parties.includes(account)
    ? { from: account, name: await nameOfAccount(node, account) }
    : { from: null, name: guest_name ?? 'Somebody' }

/** The call as it is cancelled, after its payment is withdrawn; null where somebody else has cancelled it. */
async function cancelledNow(call: StoredCall, now: number): Promise<StoredCall | null> {
  const cancelled = { status: 'cancelled', updated_at: new Date(now) } as const
  const isUncharged = isHeld(call) && (await withdraw(call.payment_id ?? '')) === 'verifying'
  return Calls.findOneAndUpdate(
    { _id: call._id, status: { $ne: 'cancelled' } },
    isUncharged ? { $set: { ...cancelled, payment_status: null }, $unset: { payment_id: '' } } : { $set: cancelled },
    { returnDocument: 'after' },
  ).lean<StoredCall>()
}

/** What becomes of what was paid for a call that is cancelled; null where nothing was to be paid. */
export function paymentAfter({ payment_required, payment_status }: StoredCall): Cancelled['payment'] {
  if (!payment_required) return null
  if (payment_status === null) return 'withdrawn'
  return payment_status === 'pending' ? 'unknown' : 'kept'
}

type Cancelled = OutputOf<typeof contract.cancel>
type Invite = InputOf<typeof contract.invite>

/** Has the host of a call that is to come send its invitation. */
export async function invite(
  context: Context,
  { scheduledCallId, callId, recipientEmail, schedulerEmail }: Invite,
): Promise<EmailedTo[]> {
  const { account } = signedIn(context)
  const call = await Calls.findOne({ _id: scheduledCallId ?? callId ?? '' }).lean<StoredCall>()
  if (!call?.parties.includes(account)) throw new AppError('CALL_NOT_FOUND')
  if (call.recipient_wallet_address !== account)
    throw new AppError('FORBIDDEN', { message: 'Only the host of a call invites to it' })
  if (isHeld(call)) throw new AppError('FORBIDDEN', { message: 'This call is not paid for yet' })
  if (call.status === 'cancelled' || statusOf(call, context.node.now()) === 'completed') throw new AppError('CALL_OVER')
  return sendInvitation(context, call, { guest: schedulerEmail ?? null, host: recipientEmail ?? null })
}
