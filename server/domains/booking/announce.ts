import { tellOfBooking } from '#server/domains/push/doings'
import type { StoredCall } from '#server/domains/scheduling/model'
import type { Node } from '#server/kernel/context'
import { writeToCalendar } from './calendar-event.ts'
import { tellByLetter } from './letters.ts'

/** Has all who are concerned told of a call that is booked now, and the calendar of its host; `by` asked for it. */
export async function announceBooked(node: Node, call: StoredCall, by: string): Promise<void> {
  await tellByLetter(node, call, { method: 'REQUEST', by })
  tellOfBooking(node, call)
  await writeToCalendar(node, call)
}
