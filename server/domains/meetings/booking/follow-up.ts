import { z } from 'zod'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { isHeldCall, resolveHold } from './holds.ts'
import { retryNotice } from './notices.ts'

/** The call is stored within so long after its job. */
const storedMilliseconds = 60_000
const pauseMilliseconds = (age: number) => Math.min(300_000, Math.max(1_000, age / 20))

const open = { $or: [{ payment_status: 'pending' as const }, { tell_at: { $exists: true } }] }

/** Resolves the hold of a call, and sends its notice, until neither is left. */
export const callFollowUp = job({
  kind: 'booking.follow-up',
  payload: z.object({ call: z.string(), at: z.number() }),
  async run({ call: _id, at }, { node }) {
    const call = await Bookings.findOne({ _id, ...open }).lean<StoredBooking>()
    const age = node.now() - at
    if (!call) return age < storedMilliseconds ? at + storedMilliseconds : undefined
    await retryNotice(node, call)
      .then(() => (isHeldCall(call) ? resolveHold(node, call) : undefined))
      .catch((error: unknown) => node.logger.warn({ error, call: _id }, 'a call was not followed up'))
    return node.now() + pauseMilliseconds(age)
  },
})

/** Stored before the call is held, booked or cancelled, so that no crash comes between. */
export const planFollowUp = ({ jobs, now }: Node, call: string, id?: string): Promise<void> =>
  jobs.add(callFollowUp, { call, at: now() }, id, now() + pauseMilliseconds(0))

/** Older versions stored no job for a call. */
export async function followUpOlderCalls(node: Node): Promise<void> {
  for (const { _id } of await Bookings.find(open, { _id: 1 }).lean<StoredBooking[]>())
    await planFollowUp(node, _id, `${callFollowUp.kind} ${_id}`)
}
