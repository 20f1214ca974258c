import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import type { QueryFilter } from '#server/ports/database/port'
import type { booking as contract } from '#shared/api/booking'
import type { InputOf } from '#shared/kit/contract'

type Asked = InputOf<typeof contract.calls>
const standing = { $in: ['pending', 'confirmed'] satisfies StoredBooking['status'][] }

/** The calls of an account in the order that their status asks for, and how many there are. */
export async function callsOf(account: string, { status, limit }: Asked, now: number) {
  const found = { parties: account, ...(status && withStatus(status, new Date(now))) }
  const [calls, total] = await Promise.all([
    Bookings.find(found)
      .sort({ scheduled_at: status === 'upcoming' || status === 'current' ? 1 : -1 })
      .limit(limit)
      .lean<StoredBooking[]>(),
    Bookings.countDocuments(found),
  ])
  return { calls, total }
}

function withStatus(status: NonNullable<Asked['status']>, now: Date): QueryFilter<StoredBooking> {
  if (status === 'upcoming') return { scheduled_at: { $gt: now }, status: standing }
  if (status === 'current') return { ends_at: { $gt: now }, status: standing }
  if (status === 'past') return { $or: [{ scheduled_at: { $lte: now } }, { status: 'cancelled' }] }
  if (status === 'completed') return { ends_at: { $lte: now }, status: standing }
  return status === 'cancelled' ? { status } : { ends_at: { $gt: now }, status }
}
