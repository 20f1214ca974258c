import { createHash } from 'node:crypto'
import { z } from 'zod'
import { connectionOf, withCalendar } from '#server/domains/meetings/calendar/connections'
import { spanOf } from '#server/domains/meetings/scheduling/diary'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { settingsOf } from '#server/domains/meetings/scheduling/own-settings'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/jobs'
import { NoAccess } from '#server/ports/calendar/port'
import { linkTo } from '#shared/kit/pages'

/** Has a call stand in the calendar of its host, where one is connected, or not any more where it was cancelled. */
export async function writeToCalendar({ jobs, services }: Node, { _id, ...call }: StoredBooking): Promise<void> {
  if (!services.calendars || !(await connectionOf(call.recipient_wallet_address))) return
  await jobs.add(writingToCalendar, { call: _id })
}

/** Of the call, so that it stands there once, however often this is done. */
const eventIdOf = ({ _id }: StoredBooking): string => createHash('sha256').update(_id).digest('hex')

const callOf = (_id: string): Promise<StoredBooking | null> => Bookings.findOne({ _id }).lean<StoredBooking>()

export const writingToCalendar = job({
  kind: 'booking.calendar',
  payload: z.object({ call: z.string() }),
  async run({ call: _id }, { node }) {
    const call = await callOf(_id)
    if (!call) return
    await (call.status === 'cancelled' ? takeOut(node, call) : putIn(node, call)).catch((error: unknown) => {
      // The connection says so from then on, to its owner.
      if (!(error instanceof NoAccess)) throw error
    })
  },
})

async function putIn(node: Node, call: StoredBooking): Promise<void> {
  const { _id, recipient_wallet_address: host, title, invite_token } = call
  const connection = await connectionOf(host)
  if (!connection || !(await settingsOf(host)).scheduling_calendar_sync) return
  const description = node.settings.publicUrl + linkTo('call', { token: invite_token })
  const event = { id: eventIdOf(call), title, description, ...spanOf(call) }
  await withCalendar(node, connection, (calendar, calendars) => calendars.insert(calendar, event))
  await Bookings.updateOne({ _id }, { $set: { calendar_event_id: event.id } })
  // It was cancelled meanwhile, and whoever was to take the event out may have found none yet.
  if ((await callOf(_id))?.status === 'cancelled') await takeOut(node, call)
}

async function takeOut(node: Node, call: StoredBooking): Promise<void> {
  const connection = await connectionOf(call.recipient_wallet_address)
  if (!connection) return
  await withCalendar(node, connection, (calendar, calendars) => calendars.remove(calendar, eventIdOf(call)))
}
