import { kitTexts } from '../texts/kit.ts'
import { dayOf, timeOf } from './format.ts'

/** The time of a moment, after its day where that is not today. */
export function momentOf(moment: string, now = Date.now()): string {
  const day = dayOf(moment, now)
  return day === kitTexts.today ? timeOf(moment) : `${day}, ${timeOf(moment)}`
}
