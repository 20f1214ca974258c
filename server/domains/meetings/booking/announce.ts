import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { tellOfBooking, tellOfCancelling, tellOfUnbooked } from '#server/domains/platform/push/doings'
import { audiences, type Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import type { QueryFilter } from '#server/ports/database/port'
import { scheduledCallChanged } from '#shared/api/booking'
import { writeToCalendar } from './calendar-event.ts'
import { tellByLetter, tellUnbooked } from './letters.ts'
import { nameOfAccount, shownCall } from './shown.ts'

const lookMilliseconds = 1_000
const atOnce = 20
/** So long a node has to tell of a call before another one does. */
const tellingMilliseconds = 10_000

/** Stored with a call as it is booked or cancelled, so that it is told of also where this node dies. */
export const toBeTold = (node: Node): { tell_at: Date } => ({ tell_at: new Date(node.now() + tellingMilliseconds) })

/** Notes that a call is told of, unless something else has become of it meanwhile, which is to be told. */
const noteTold = ({ _id, status }: StoredBooking) => Bookings.updateOne({ _id, status }, { $unset: { tell_at: '' } })

/** Has all who are concerned told of a call that is booked now, and the calendar of its host; `by` asked for it. */
export async function announceBooked(node: Node, call: StoredBooking, by: string): Promise<void> {
  node.reached('call-booked')
  await tellByLetter(node, call, { method: 'REQUEST', by })
  tellOfBooking(node, call)
  await writeToCalendar(node, call)
  await noteTold(call)
}

/** Has all who are concerned told of a call that is cancelled now, but who has cancelled it; `by` asked for it. */
export async function announceCancelled(node: Node, call: StoredBooking, by: string): Promise<void> {
  node.reached('call-cancelled')
  await tellByLetter(node, call, { method: 'CANCEL', by })
  // Of one that was never paid for nobody was told.
  if (!call.payment_required || call.is_paid) tellOfCancelling(node, call, await cancellerOf(node, call))
  await writeToCalendar(node, call)
  await noteTold(call)
}

/** Has who paid for a call told that it is not booked, and until when its payment may be charged all the same. */
export async function announceUnbooked(node: Node, call: StoredBooking): Promise<void> {
  node.reached('call-unbooked')
  await tellUnbooked(node, call)
  tellOfUnbooked(node, call, await nameOfAccount(node, call.recipient_wallet_address))
  await noteTold(call)
}

/** Who has cancelled a call, as the others are told: one of its parties, or the guest who has its token. */
async function cancellerOf(node: Node, { cancelled_by: from = null, guest_name }: StoredBooking) {
  return { from, name: from === null ? (guest_name ?? 'Somebody') : await nameOfAccount(node, from) }
}

/** Tells the devices of the parties of a call how it is now. */
export function tellParties(node: Node, stored: StoredBooking): void {
  const call = shownCall(stored, node.now())
  for (const party of stored.parties) node.live.send(scheduledCallChanged, audiences.account(party), { call })
}

/** Tells of calls whose node has died, or failed, before it had. Whom that node had written to is written nothing again. */
export function keepTelling(node: Node): () => void {
  const isDue = (): QueryFilter<StoredBooking> => ({
    status: { $in: ['confirmed', 'cancelled'] },
    tell_at: { $lte: new Date(node.now()) },
  })
  async function look(): Promise<void> {
    const untold = await Bookings.find(isDue()).sort({ tell_at: 1 }).limit(atOnce).lean<StoredBooking[]>()
    await Promise.all(untold.map(tell))
  }
  async function tell({ _id }: StoredBooking): Promise<void> {
    const mine = await Bookings.findOneAndUpdate(
      { _id, ...isDue() },
      { $set: toBeTold(node) },
      { returnDocument: 'after' },
    ).lean<StoredBooking>()
    if (!mine) return
    tellParties(node, mine)
    if (mine.payment_usable_until) await announceUnbooked(node, mine)
    else if (mine.status === 'cancelled') await announceCancelled(node, mine, mine.cancelled_by ?? mine.booker)
    else await announceBooked(node, mine, mine.booker)
  }
  return every(node, lookMilliseconds, look, 'what has become of calls was not told')
}
