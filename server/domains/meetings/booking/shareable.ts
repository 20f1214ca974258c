import { writeCall } from '#server/domains/meetings/scheduling/host-schedule'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { isZone } from '#server/domains/meetings/scheduling/open-time'
import { type Context, signedIn } from '#server/kernel/context'
import type { booking as contract } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { writeToCalendar } from './calendar-event.ts'
import { newCall } from './new-call.ts'
import { refuseCallText } from './refuse-text.ts'
import { nameOfAccount } from './render.ts'

/** The future calls of one's own, at most. */
const aheadAtMost = 100

type Given = InputOf<typeof contract.createShareable>

/** Creates a call of the caller at any free time, for anyone with its link. */
export async function createShareableCall(context: Context, given: Given): Promise<StoredBooking> {
  const { node } = context
  const { account } = signedIn(context)
  const { scheduledAt, timezone = 'UTC', durationMinutes = 30 } = given
  if (!isZone(timezone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  if (Date.parse(scheduledAt) <= node.now())
    throw new AppError('VALIDATION_ERROR', { message: 'scheduledAt must be in the future' })
  await refuseCallText(node, account, { title: given.title })
  const booker = { account, id: account, name: await nameOfAccount(node, account), email: null }
  const call = newCall(context.creationId, durationMinutes, booker, { ...given, host: account }, new Date(node.now()))
  const written = await writeCall(call, { buffer: 0, ahead: aheadAtMost })
  await writeToCalendar(node, written)
  return written
}
