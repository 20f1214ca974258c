import { AppError } from '#shared/errors'
import { dayLength, isZone, type Span, startOfDay } from './open-time.ts'

const daysUnasked = 30
const daysAtMost = 92

interface Asked {
  startDate?: string | undefined
  endDate?: string | undefined
  date?: string | undefined
}

/** The span that is asked for. A day stands for all of it, by the clocks of the zone. */
export function spanAsked({ startDate, endDate, date }: Asked, zone: string, now: number): Span {
  if (!isZone(zone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const from = startDate ?? date
  const to = endDate ?? date
  const start = from === undefined ? now : instantOf(from, zone, 0)
  const end = to === undefined ? start + daysUnasked * dayLength : instantOf(to, zone, 1)
  if (end <= start) throw new AppError('VALIDATION_ERROR', { message: 'endDate must be after startDate' })
  // A day by the clocks of a zone may be of 25 hours.
  if (end - start > (daysAtMost + 1) * dayLength)
    throw new AppError('VALIDATION_ERROR', { message: `At most ${daysAtMost} days` })
  return { start, end }
}

const instantOf = (when: string, zone: string, later: number): number =>
  when.includes('T') ? Date.parse(when) : startOfDay(zone, when, later)
