import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { withdrawPayment } from '#server/domains/payments/payments/settle'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import type { booking as contract, EmailedTo } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { requesterOf, sendInvitation } from './emails.ts'
import { planFollowUp } from './follow-up.ts'
import { isHeldCall } from './holds.ts'
import { announceCancelled, noticeDue } from './notices.ts'
import { refuseCallText } from './refuse-text.ts'
import { callStatusOf } from './render.ts'

/** Loads the call of an invitation, and notes its first view by anyone but the host. */
export async function openInvitation({ node, caller }: Context, invite_token: string): Promise<StoredBooking> {
  const call = await Bookings.findOne({ invite_token }).lean<StoredBooking>()
  if (!call) throw new AppError('CALL_NOT_FOUND')
  if (call.invite_opened_at === null && !isSameAccount(caller.account, call.recipient_wallet_address))
    await Bookings.updateOne(
      { _id: call._id, invite_opened_at: null },
      { $set: { invite_opened_at: new Date(node.now()) } },
    )
  return call
}

/** Cancels a call permanently and withdraws its payment. A cancelled call is returned as it is. */
export async function cancelCall(
  context: Context,
  _id: string,
  token: string | undefined,
  reason: string | null,
): Promise<StoredBooking> {
  const { account } = context.caller
  const now = context.node.now()
  const call = await Bookings.findOne({ _id }).lean<StoredBooking>()
  const isParty = account !== null && call?.parties.includes(account)
  const hasToken = call !== null && token === call.invite_token
  if (!call || !(isParty || hasToken)) throw new AppError('CALL_NOT_FOUND')
  if (!isParty && call.scheduler_wallet_address !== null)
    throw new AppError('ACCESS_DENIED', { message: 'Only its host and who booked it cancel this call' })
  if (call.status === 'cancelled') return call
  if (callStatusOf(call, now) === 'completed') throw new AppError('CALL_OVER')
  await refuseCallText(context.node, account, { notes: reason })
  const cancelled = await cancelledNow(context.node, call, isParty ? account : null, reason)
  if (cancelled) await announceCancelled(context.node, cancelled, requesterOf(context))
  return cancelled ?? (await Bookings.findOne({ _id }).lean<StoredBooking>()) ?? call
}

/** Withdraws the payment and cancels the call; null if somebody else cancelled it. */
async function cancelledNow(
  node: Node,
  call: StoredBooking,
  by: string | null,
  cancel_reason: string | null,
): Promise<StoredBooking | null> {
  await planFollowUp(node, call._id)
  const updated_at = new Date(node.now())
  const cancelled = { status: 'cancelled', cancelled_by: by, cancel_reason, updated_at, ...noticeDue(node) } as const
  const isUncharged = isHeldCall(call) && (await withdrawPayment(call.payment_id ?? '')) === 'verifying'
  return Bookings.findOneAndUpdate(
    { _id: call._id, status: { $ne: 'cancelled' } },
    isUncharged ? { $set: { ...cancelled, payment_status: null }, $unset: { payment_id: '' } } : { $set: cancelled },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
}

type Invite = InputOf<typeof contract.invite>

/** Sends the invitation of a future call for its host. */
export async function sendCallInvitation(
  context: Context,
  { scheduledCallId, callId, recipientEmail, schedulerEmail }: Invite,
): Promise<EmailedTo[]> {
  const { account } = signedIn(context)
  const call = await Bookings.findOne({ _id: scheduledCallId ?? callId ?? '' }).lean<StoredBooking>()
  if (!call?.parties.includes(account)) throw new AppError('CALL_NOT_FOUND')
  if (!isSameAccount(call.recipient_wallet_address, account))
    throw new AppError('FORBIDDEN', { message: 'Only the host of a call invites to it' })
  if (isHeldCall(call)) throw new AppError('FORBIDDEN', { message: 'This call is not paid for yet' })
  if (call.status === 'cancelled' || callStatusOf(call, context.node.now()) === 'completed')
    throw new AppError('CALL_OVER')
  return sendInvitation(context, call, { guest: schedulerEmail ?? null, host: recipientEmail ?? null })
}
