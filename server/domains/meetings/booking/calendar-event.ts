import { createHash } from 'node:crypto'
import { z } from 'zod'
import { calendarOf, withCalendar } from '#server/domains/meetings/calendar/connections'
import { spanOf } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { schedulingSettingsOf } from '#server/domains/meetings/scheduling/own-settings'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { NoAccess } from '#server/ports/calendar/port'
import { linkTo } from '#shared/kit/pages'

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
