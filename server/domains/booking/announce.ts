import { tellOfBooking } from '#server/domains/push/doings'
import { Calls, type StoredCall } from '#server/domains/scheduling/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { writeToCalendar } from './calendar-event.ts'
import { tellByLetter } from './letters.ts'

const lookMilliseconds = 1_000
const atOnce = 20
/** So long a node has to tell of a call before another one does. */
const tellingMilliseconds = 10_000

/** Stored with a call as it is booked, so that it is told of also where this node dies. */
export const toBeTold = (node: Node): { tell_at: Date } => ({ tell_at: new Date(node.now() + tellingMilliseconds) })

/** Has all who are concerned told of a call that is booked now, and the calendar of its host; `by` asked for it. */
export async function announceBooked(node: Node, call: StoredCall, by: string): Promise<void> {
  node.reached('call-booked')
  await tellByLetter(node, call, { method: 'REQUEST', by })
  tellOfBooking(node, call)
  await writeToCalendar(node, call)
  await Calls.updateOne({ _id: call._id }, { $unset: { tell_at: '' } })
}

/** Tells of calls whose node has died, or failed, before it had. Whom that node had written to is written nothing again. */
export function keepTelling(node: Node): () => void {
  const isDue = () => ({ status: 'confirmed', tell_at: { $lte: new Date(node.now()) } }) as const
  async function look(): Promise<void> {
    const untold = await Calls.find(isDue()).sort({ tell_at: 1 }).limit(atOnce).lean<StoredCall[]>()
    await Promise.all(untold.map(tell))
  }
  async function tell({ _id }: StoredCall): Promise<void> {
    const mine = await Calls.findOneAndUpdate(
      { _id, ...isDue() },
      { $set: toBeTold(node) },
      { returnDocument: 'after' },
    ).lean<StoredCall>()
    if (mine) await announceBooked(node, mine, mine.booker)
  }
  return every(node, lookMilliseconds, look, 'calls that were booked were not told of')
}
