import { joinUrlOf, meetingOfCall } from '#server/domains/meetings/meetings/records'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import type { Context } from '#server/kernel/context'
import { joinEarlyMilliseconds } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { openInvitation } from './invitation.ts'
import { callStatusOf } from './render.ts'

const hourSeconds = 3_600
/** From one address in an hour, over all calls. */
const entriesAnHour = 60

/** The meeting room of an open call, for anyone with its invitation token. */
export async function meetingRoomOfCall(context: Context, token: string) {
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

/** Refuses an early caller, and calls that are unpaid, cancelled or over. */
function refuseClosed(call: StoredBooking, now: number): void {
  const status = callStatusOf(call, now)
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

/** Refuses blocked people, and anyone with a blocked booker's link. A guest is known by a verified address. */
async function refuseBlocked(call: StoredBooking, entrant: string | null): Promise<void> {
  const { recipient_wallet_address: host, scheduler_wallet_address, booker } = call
  if (entrant === host) return
  const bookedBy = scheduler_wallet_address ?? (await accountByEmail(booker))?._id ?? null
  const known = [entrant, bookedBy].filter((one) => one !== null)
  if ((await blockedAmong(host, known)).size > 0)
    throw new AppError('BLOCKED', { message: 'You cannot meet this user' })
}
