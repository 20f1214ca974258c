import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate, type QueryFilter } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Bookings, type StoredBooking } from './model.ts'
import { isFreeSpan, type Span } from './open-time.ts'

const minute = 60_000
/** The longest call. */
const longest = 1_440 * minute
/** A taken number means that somebody else has booked. */
const attempts = 200
/** Calls of strangers count together within 14 days of a call. */
const strangersSpan = 14 * longest

export type NewCall = Omit<StoredBooking, 'number' | 'ends_at'>

interface Rule {
  /** Free milliseconds before and after a call. */
  buffer: number
  /** Free future calls of one booker with a host, at most; null for any number. */
  ahead: number | null
  /** Free future calls of strangers with a host within 14 days, at most. */
  strangers?: number
}

/** Stores a call under the host's next number, which one booking alone can take: none can slip in between. Throws SLOT_TAKEN. */
export async function writeCall(call: NewCall, { buffer, ahead, strangers }: Rule): Promise<StoredBooking> {
  const host = call.recipient_wallet_address
  const ends_at = new Date(spanOf(call).end)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await earlierCall(call)
    if (before) return before
    const number = (await lastNumber(host)) + 1
    await refuseTakenTime(call, buffer)
    if (ahead !== null) await refuseMany(call, ahead)
    if (call.of_stranger && strangers !== undefined) await refuseStrangers(call, strangers)
    const written: StoredBooking = { ...call, number, ends_at }
    try {
      await Bookings.create(written)
      return written
    } catch (error) {
      if (!isDuplicate(error)) throw error
      await readDuplicate(() => Bookings.exists({ recipient_wallet_address: host, number }))
    }
  }
  throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
}

export const spanOf = ({
  scheduled_at,
  duration_minutes,
}: Pick<StoredBooking, 'scheduled_at' | 'duration_minutes'>): Span => ({
  start: scheduled_at.getTime(),
  end: scheduled_at.getTime() + duration_minutes * minute,
})

const earlierCall = async ({ _id, payment_id }: NewCall): Promise<StoredBooking | null> =>
  (await Bookings.findOne({ _id }).lean<StoredBooking>()) ??
  (payment_id === undefined ? null : Bookings.findOne({ payment_id }).lean<StoredBooking>())

/** Refuses a time that is not free, with its buffer, in the host's schedule. */
export async function refuseTakenTime(call: NewCall, buffer: number): Promise<void> {
  const span = spanOf(call)
  const around = { start: span.start - buffer, end: span.end + buffer }
  if (!isFreeSpan(span, buffer, await takenTimes(call.recipient_wallet_address, around, call._id)))
    throw new AppError('SLOT_TAKEN', { details: { source: 'database' } })
}

async function lastNumber(host: string): Promise<number> {
  const last = await Bookings.findOne({ recipient_wallet_address: host }, { number: 1 })
    .sort({ number: -1 })
    .lean<Pick<StoredBooking, 'number'>>()
  return last?.number ?? 0
}

/** The times of a host's calls within a span; `without` leaves out a call. */
export async function takenTimes(host: string, { start, end }: Span, without = ''): Promise<Span[]> {
  const calls = await Bookings.find(
    {
      _id: { $ne: without },
      recipient_wallet_address: host,
      scheduled_at: { $gt: new Date(start - longest), $lt: new Date(end) },
      status: { $in: ['pending', 'confirmed'] },
    },
    { scheduled_at: 1, duration_minutes: 1 },
  ).lean<StoredBooking[]>()
  return calls.map(spanOf).filter((call) => call.end > start)
}

/** The other free future calls of a host. */
const openBeside = ({ _id, recipient_wallet_address, created_at }: NewCall) =>
  ({
    _id: { $ne: _id },
    recipient_wallet_address,
    scheduled_at: { $gt: created_at },
    payment_required: false,
    status: { $in: ['pending', 'confirmed'] },
  }) satisfies QueryFilter<StoredBooking>

/** Limits strangers' calls, so that no crowd of accounts fills a host's days. */
async function refuseStrangers(call: NewCall, most: number): Promise<void> {
  const at = call.scheduled_at.getTime()
  const around = {
    $gt: new Date(Math.max(call.created_at.getTime(), at - strangersSpan)),
    $lt: new Date(at + strangersSpan),
  }
  const near = await Bookings.countDocuments({ ...openBeside(call), of_stranger: true, scheduled_at: around })
  if (near < most) return
  throw new AppError('RATE_LIMIT_EXCEEDED', {
    message: 'Too many free calls with this person are booked for these days: their friends alone book more',
    retryAfter: 3_600,
  })
}

async function refuseMany(call: NewCall, most: number): Promise<void> {
  const { recipient_wallet_address, booker } = call
  if ((await Bookings.countDocuments({ ...openBeside(call), booker })) >= most)
    throw new AppError('RATE_LIMIT_EXCEEDED', {
      message: isSameAccount(booker, recipient_wallet_address)
        ? `You have made ${most} calls that are still to come`
        : `You have booked ${most} calls with this person that are still to come`,
      retryAfter: 3_600,
    })
}
