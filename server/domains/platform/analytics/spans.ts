import type { Period } from '#shared/api/platform/analytics'

const hour = 3_600_000
const day = 24 * hour
const monthsOfYear = 12

interface Span {
  start: number
  /** The starts of its buckets, oldest first. */
  buckets: number[]
  labelOf(at: number): string
}

const iso = (at: number) => new Date(at).toISOString()
const byHour = (at: number) => `${iso(at).slice(11, 13)}:00`
const byDay = (at: number) => iso(at).slice(0, 10)
const byMonth = (at: number) => iso(at).slice(0, 7)

/** Buckets of one length, the last of which holds this moment; in UTC. */
function even(now: number, length: number, most: number, labelOf: Span['labelOf']): Span {
  const last = Math.floor(now / length) * length
  const buckets = Array.from({ length: most }, (_, at) => last - (most - 1 - at) * length)
  return { start: buckets[0] ?? last, buckets, labelOf }
}

function months(now: number): Span {
  const at = new Date(now)
  const monthAt = (back: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back, 1)
  const buckets = Array.from({ length: monthsOfYear }, (_, index) => monthAt(monthsOfYear - 1 - index))
  return { start: buckets[0] ?? now, buckets, labelOf: byMonth }
}

const spans: Record<Period, (now: number) => Span> = {
  '24h': (now) => even(now, hour, 24, byHour),
  '7d': (now) => even(now, day, 7, byDay),
  '30d': (now) => even(now, day, 30, byDay),
  '90d': (now) => even(now, 7 * day, 13, byDay),
  '365d': months,
}

/** The time span of a period, in whole hours, days, weeks or months. */
export const spanOfPeriod = (period: Period, now: number): Span => spans[period](now)

/** The least id of a moment: ids begin with their time, so that a span is a range. */
const idAt = (at: number): string => {
  const time = at.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** The range of ids of a span of time, behind a prefix. */
export const idBetween = (from: number, until: number, prefix = '') => ({
  $gte: prefix + idAt(from),
  $lt: prefix + idAt(until),
})
