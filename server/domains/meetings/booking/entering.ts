import { joinUrlOf, meetingOfCall } from '#server/domains/meetings/meetings/records'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import type { Context } from '#server/kernel/context'
import { joinEarlyMilliseconds } from '#shared/api/booking'
import { AppError } from '#shared/errors'
import { openInvitation } from './invitation.ts'
import { statusOf } from './shown.ts'

const hourSeconds = 3_600
/** From one address in an hour, whichever calls are entered. */
const entriesAnHour = 60

/** The room of a call, for whoever has the token of its invitation, while the call is open. */
export async function roomOfCall(context: Context, token: string) {
  const { node, caller } = context
  if (!(await node.limits.guard('calls-entered', caller.ip, entriesAnHour, hourSeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const call = await openInvitation(context, token)
  refuseClosed(call, node.now())
  await refuseBlocked(call, caller.account)
  const { _id: id, recipient_wallet_address: host, title, ends_at: ends } = call
  const { room_id: roomId, join_code: joinCode } = await meetingOfCall(node, { id, host, title, ends })
  return { roomId, joinCode, joinUrl: joinUrlOf(node, joinCode) }
}

/** Refuses who comes too early, or to a call that is not paid for yet, was cancelled or is over. */
function refuseClosed(call: StoredBooking, now: number): void {
  const status = statusOf(call, now)
  if (status === 'pending') throw new AppError('FORBIDDEN', { message: 'This call is not paid for yet' })
  if (status === 'cancelled') throw new AppError('FORBIDDEN', { message: 'This call is cancelled' })
  if (status === 'completed') throw new AppError('FORBIDDEN', { message: 'This call is over' })
  const opens = call.scheduled_at.getTime() - joinEarlyMilliseconds
  if (now < opens)
    throw new AppError('FORBIDDEN', {
      message: 'This call can be entered from five minutes before it begins',
      details: { opensAt: new Date(opens).toISOString() },
    })
}

/**
 * Refuses who is blocked, and whoever comes by the link of somebody who is, as they may have booked before. A guest who booked is known by
 * their address, where an account has verified it.
 */
async function refuseBlocked(call: StoredBooking, comer: string | null): Promise<void> {
  const { recipient_wallet_address: host, scheduler_wallet_address, booker } = call
  if (comer === host) return
  const bookedBy = scheduler_wallet_address ?? (await accountByEmail(booker))?._id ?? null
  const known = [comer, bookedBy].filter((one) => one !== null)
  if ((await blockedAmong(host, known)).size > 0)
    throw new AppError('BLOCKED', { message: 'You cannot meet this user' })
}
