/** A span of time in milliseconds since 1970; `end` is no part of it. */
export interface Span {
  start: number
  end: number
}

/** A time of each week: from one time of a day to another, in milliseconds since midnight by the clocks of a zone. */
export interface Weekly {
  /** 0 is Sunday. */
  day: number
  opens: number
  closes: number
  zone: string
}

/** A span that is open, and the day by the clocks of its zone on which it is; days since 1970-01-01. */
export interface Open extends Span {
  on: number
}

/** A span in which the clocks of a zone are not changed. */
interface Steady extends Span {
  /** How far they are ahead of UTC. */
  offset: number
}

export const dayLength = 86_400_000
/** No zone changes its clocks twice within this time. */
const stride = 2 * dayLength
const thursday = 4

/** Does this server know the clocks of the zone? */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** How far the clocks of a zone are ahead of UTC at an instant. */
function clocksOf(zone: string): (at: number) => number {
  const numeric = 'numeric'
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric },
  })
  return (at) => {
    const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000
  }
}

/** The hour of the day by the clocks of a zone, from 0 to 23. */
export const hourBy = (zone: string, at: number): number => new Date(at + clocksOf(zone)(at)).getUTCHours()

/** The span in parts, in each of which the clocks of the zone run without a change. */
export function steadyIn(zone: string, { start, end }: Span): Steady[] {
  const offsetAt = clocksOf(zone)
  const steady: Steady[] = []
  let begun = start
  let offset = offsetAt(start)
  for (let before = start; before < end; before += stride) {
    const after = Math.min(before + stride, end)
    if (offsetAt(after) === offset) continue
    const changed = changeIn({ start: before, end: after }, (at) => offsetAt(at) !== offset)
    steady.push({ start: begun, end: changed, offset })
    begun = changed
    offset = offsetAt(changed)
  }
  return [...steady, { start: begun, end, offset }]
}

/** The first instant, to the second, at which it has changed; it has not at the start, and it has at the end. */
function changeIn({ start, end }: Span, hasChanged: (at: number) => boolean): number {
  let [before, after] = [Math.floor(start / 1_000), Math.ceil(end / 1_000)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (hasChanged(middle * 1_000)) after = middle
    else before = middle
  }
  return after * 1_000
}

/**
 * When it is open: every instant at which the clocks of the zone show a time between the two on such a day. Where clocks are put
 * forward, what they pass over is not there; where they are put back, what they show twice is there twice.
 */
export function openTimes({ day, opens, closes }: Omit<Weekly, 'zone'>, steady: readonly Steady[]): Open[] {
  const open: Open[] = []
  for (const { start, end, offset } of steady) {
    const first = Math.floor((start + offset) / dayLength)
    const last = Math.floor((end + offset - 1) / dayLength)
    for (let on = first; on <= last; on++) {
      if ((((on + thursday) % 7) + 7) % 7 !== day) continue
      const from = Math.max(start, on * dayLength + opens - offset)
      const to = Math.min(end, on * dayLength + closes - offset)
      if (from >= to) continue
      const before = open.at(-1)
      if (before?.on === on && before.end === from) before.end = to
      else open.push({ on, start: from, end: to })
    }
  }
  return open
}

/** The first instant at which the clocks of a zone show this day, `YYYY-MM-DD`, or a later one; `later` days after it. */
export function startOfDay(zone: string, day: string, later = 0): number {
  const local = Date.parse(`${day}T00:00:00Z`) + later * dayLength
  const around = steadyIn(zone, { start: local - 2 * dayLength, end: local + 2 * dayLength })
  const found = around.find(({ end, offset }) => local - offset < end)
  return found ? Math.max(found.start, local - found.offset) : local
}
