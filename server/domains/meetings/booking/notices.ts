import { createHash } from 'node:crypto'
import { z } from 'zod'
import { calendarOf, withCalendar } from '#server/domains/meetings/calendar/connections'
import { spanOf } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { schedulingSettingsOf } from '#server/domains/meetings/scheduling/own-settings'
import { notifyBooking, notifyCancellation, notifyUnbooked } from '#server/domains/platform/push/event-notices'
import { audiences, type Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { NoAccess } from '#server/ports/calendar/port'
import { scheduledCallChanged } from '#shared/api/meetings/booking'
import { linkTo } from '#shared/kit/pages'
import { emailParties, emailUnbooked } from './emails.ts'
import { nameOfAccount, shownCall } from './render.ts'

/** Adds a call to the host's connected calendar, or removes a cancelled one. */
export async function writeToCalendar({ jobs, services }: Node, { _id, ...call }: StoredBooking): Promise<void> {
  if (!services.calendars || !(await calendarOf(call.recipient_wallet_address))) return
  await jobs.add(calendarEventJob, { call: _id })
}

/** Derived from the call, so that repeats add one event. */
const eventIdOf = ({ _id }: StoredBooking): string => createHash('sha256').update(_id).digest('hex')

const callOf = (_id: string): Promise<StoredBooking | null> => Bookings.findOne({ _id }).lean<StoredBooking>()

export const calendarEventJob = job({
  kind: 'booking.calendar',
  payload: z.object({ call: z.string() }),
  async run({ call: _id }, { node }) {
    const call = await callOf(_id)
    if (!call) return
    await (call.status === 'cancelled' ? removeEvent(node, call) : insertEvent(node, call)).catch((error: unknown) => {
      // The connection is marked for its owner.
      if (!(error instanceof NoAccess)) throw error
    })
  },
})

async function insertEvent(node: Node, call: StoredBooking): Promise<void> {
  const { _id, recipient_wallet_address: host, title, invite_token } = call
  const connection = await calendarOf(host)
  if (!connection || !(await schedulingSettingsOf(host)).scheduling_calendar_sync) return
  const description = node.settings.publicUrl + linkTo('call', { token: invite_token })
  const event = { id: eventIdOf(call), title, description, ...spanOf(call) }
  await withCalendar(node, connection, (calendar, calendars) => calendars.insert(calendar, event))
  await Bookings.updateOne({ _id }, { $set: { calendar_event_id: event.id } })
  // The call was cancelled meanwhile, and its removal may have run before the event existed.
  if ((await callOf(_id))?.status === 'cancelled') await removeEvent(node, call)
}

async function removeEvent(node: Node, call: StoredBooking): Promise<void> {
  const connection = await calendarOf(call.recipient_wallet_address)
  if (!connection) return
  await withCalendar(node, connection, (calendar, calendars) => calendars.remove(calendar, eventIdOf(call)))
}

/** Another node takes over a notice after so long. */
const noticeMilliseconds = 10_000

/** Stored with each booking and cancellation, so that the notice is sent even if this node dies. */
export const noticeDue = (node: Node): { tell_at: Date } => ({ tell_at: new Date(node.now() + noticeMilliseconds) })

/** Marks a notice as sent, unless the call has changed since. */
const markNotified = ({ _id, status }: StoredBooking) =>
  Bookings.updateOne({ _id, status }, { $unset: { tell_at: '' } })

/** Notifies both parties and the host's calendar of a booking; `by` requested it. */
export async function announceBooked(node: Node, call: StoredBooking, by: string): Promise<void> {
  node.reached('call-booked')
  await emailParties(node, call, { method: 'REQUEST', by })
  notifyBooking(node, call)
  await writeToCalendar(node, call)
  await markNotified(call)
}

/** Notifies all but the canceller of a cancellation; `by` requested it. */
export async function announceCancelled(node: Node, call: StoredBooking, by: string): Promise<void> {
  node.reached('call-cancelled')
  await emailParties(node, call, { method: 'CANCEL', by })
  // Nobody was notified of an unpaid call.
  if (!call.payment_required || call.is_paid) notifyCancellation(node, call, await cancellerOf(node, call))
  await writeToCalendar(node, call)
  await markNotified(call)
}

/** Notifies the payer that the call is not booked, and until when the payment may still be charged. */
export async function announceUnbooked(node: Node, call: StoredBooking): Promise<void> {
  node.reached('call-unbooked')
  await emailUnbooked(node, call)
  notifyUnbooked(node, call, await nameOfAccount(node, call.recipient_wallet_address))
  await markNotified(call)
}

/** The canceller of a call: a party, or the guest with its token. */
async function cancellerOf(node: Node, { cancelled_by: from = null, guest_name }: StoredBooking) {
  return { from, name: from === null ? (guest_name ?? 'Somebody') : await nameOfAccount(node, from) }
}

/** Sends the call to the devices of its parties. */
export function notifyParties(node: Node, stored: StoredBooking): void {
  const call = shownCall(stored, node.now())
  for (const party of stored.parties) node.live.send(scheduledCallChanged, audiences.account(party), { call })
}

/** Sends a notice that is due, as its node died or failed. Emails that were sent are not repeated. */
export async function retryNotice(node: Node, { _id }: StoredBooking): Promise<void> {
  const mine = await Bookings.findOneAndUpdate(
    { _id, status: { $in: ['confirmed', 'cancelled'] }, tell_at: { $lte: new Date(node.now()) } },
    { $set: noticeDue(node) },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
  if (!mine) return
  notifyParties(node, mine)
  if (mine.payment_usable_until) await announceUnbooked(node, mine)
  else if (mine.status === 'cancelled') await announceCancelled(node, mine, mine.cancelled_by ?? mine.booker)
  else await announceBooked(node, mine, mine.booker)
}
