import { dayOf, timeOf } from './format.ts'

/** The time of a moment, after its day where that is not today. */
export function momentOf(moment: string, now = Date.now()): string {
  const day = dayOf(moment, now)
  return day === 'Today' ? timeOf(moment) : `${day}, ${timeOf(moment)}`
}
