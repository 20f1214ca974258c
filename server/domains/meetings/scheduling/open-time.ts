/** A span in milliseconds since 1970, without its `end`. */
export interface Span {
  start: number
  end: number
}

/** A weekly time, in milliseconds since midnight in a zone. */
export interface WeeklyWindow {
  /** 0 is Sunday. */
  day: number
  opens: number
  closes: number
  zone: string
}

/** An open span, and its day in the zone, in days since 1970-01-01. */
export interface OpenSpan extends Span {
  on: number
}

/** A span without a clock change in a zone. */
interface Steady extends Span {
  /** Milliseconds ahead of UTC. */
  offset: number
}

export const dayLength = 86_400_000
/** No zone changes its clocks twice within this time. */
const stride = 2 * dayLength
const thursday = 4

/** Whether this server knows the zone. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** The offset of a zone from UTC at an instant. */
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

/** The hour of the day in a zone, from 0 to 23. */
export const hourInZone = (zone: string, at: number): number => new Date(at + clocksOf(zone)(at)).getUTCHours()

/** Splits a span at the clock changes of a zone. */
export function steadySpans(zone: string, { start, end }: Span): Steady[] {
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

/** The first changed instant, to the second: unchanged at the start, changed at the end. */
function changeIn({ start, end }: Span, hasChanged: (at: number) => boolean): number {
  let [before, after] = [Math.floor(start / 1_000), Math.ceil(end / 1_000)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (hasChanged(middle * 1_000)) after = middle
    else before = middle
  }
  return after * 1_000
}

/** The open spans of a weekly window. Skipped clock times do not exist, and repeated ones exist twice. */
export function openTimes({ day, opens, closes }: Omit<WeeklyWindow, 'zone'>, steady: readonly Steady[]): OpenSpan[] {
  const open: OpenSpan[] = []
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

/** The first instant of a day (`YYYY-MM-DD`) in a zone, `later` days after it. */
export function startOfDay(zone: string, day: string, later = 0): number {
  const local = Date.parse(`${day}T00:00:00Z`) + later * dayLength
  const around = steadySpans(zone, { start: local - 2 * dayLength, end: local + 2 * dayLength })
  const found = around.find(({ end, offset }) => local - offset < end)
  return found ? Math.max(found.start, local - found.offset) : local
}
