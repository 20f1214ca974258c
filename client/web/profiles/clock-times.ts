import { locale } from '../texts/language.ts'

interface TimeThere {
  time: string
  /** As `Friday`. */
  day: string
  /** From 0 to 24, with the minutes as a part of it. */
  hour: number
}

/** What the clocks of a zone show; null where there is no such zone. */
export function timeAt(timeZone: string, now: number, format: string): TimeThere | null {
  if (timeZone === '') return null
  try {
    const clock = new Intl.DateTimeFormat(locale, {
      ...{ timeZone, hour: 'numeric', minute: '2-digit' },
      ...(format === '12h' && { hour12: true }),
      ...(format === '24h' && { hour12: false }),
    })
    const parts = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' })
    const [hours = 0, minutes = 0] = parts.format(now).split(':').map(Number)
    const day = new Intl.DateTimeFormat(locale, { timeZone, weekday: 'long' }).format(now)
    return { time: clock.format(now), day, hour: hours + minutes / 60 }
  } catch {
    return null
  }
}

/** As `3 April 2027`; empty where it is no date. */
export function dateOf(moment: string): string {
  const time = Date.parse(moment)
  return Number.isNaN(time) ? '' : new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(time)
}
