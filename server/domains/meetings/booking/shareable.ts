import { writeCall } from '#server/domains/meetings/scheduling/diary'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { isZone } from '#server/domains/meetings/scheduling/open-time'
import { type Context, signedIn } from '#server/kernel/context'
import type { booking as contract } from '#shared/api/booking'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { writeToCalendar } from './calendar-event.ts'
import { newCall } from './new-call.ts'
import { nameOfAccount } from './shown.ts'
import { refuseWords } from './words.ts'

/** Calls of one's own that are still to come. */
const aheadAtMost = 100

type Given = InputOf<typeof contract.createShareable>

/** A call of the caller's own, at any time to come that is free in their diary, for whoever is given its link. */
export async function createShareable(context: Context, given: Given): Promise<StoredBooking> {
  const { node } = context
  const { account } = signedIn(context)
  const { scheduledAt, timezone = 'UTC', durationMinutes = 30 } = given
  if (!isZone(timezone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  if (Date.parse(scheduledAt) <= node.now())
    throw new AppError('VALIDATION_ERROR', { message: 'scheduledAt must be in the future' })
  await refuseWords(node, account, { title: given.title })
  const booker = { account, id: account, name: await nameOfAccount(node, account), email: null }
  const call = newCall(context.creationId, durationMinutes, booker, { ...given, host: account }, new Date(node.now()))
  const written = await writeCall(call, { buffer: 0, ahead: aheadAtMost })
  await writeToCalendar(node, written)
  return written
}
