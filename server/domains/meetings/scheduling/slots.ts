import { dayLength, type Open, openTimes, type Span, steadyIn, type Weekly } from './open-time.ts'

/** What decides which times are offered; in milliseconds. */
export interface Offer {
  windows: readonly Weekly[]
  within: Span
  /** How long one is. */
  length: number
  /** How far apart they begin, where that is not their length and the buffer. */
  step?: number
  /** How much time is left free between two. */
  buffer: number
  /** A window that opens before this instant is left out on that day. */
  notBefore: number
  busy: readonly Span[]
  /** The first of them are enough. */
  atMost: number
}

/** The times that can be booked, in their order; each once, however many windows offer it. */
export function slotsOf({ windows, within, length, buffer, step, notBefore, busy, atMost }: Offer): Span[] {
  const starts = new Set<number>()
  const taken = joined(busy)
  for (const { start, end } of opened(windows, within, notBefore)) {
    if (starts.size >= atMost && (inOrder(starts)[atMost - 1] ?? start) < start) break
    const near = taken.filter((one) => one.start < end + buffer && one.end > start - buffer)
    let next = 0
    for (let at = start; at + length <= end; at += step ?? length + buffer) {
      if (at < within.start || at >= within.end || starts.has(at)) continue
      while ((near[next]?.end ?? Number.POSITIVE_INFINITY) <= at - buffer) next++
      if ((near[next]?.start ?? Number.POSITIVE_INFINITY) >= at + length + buffer) starts.add(at)
    }
  }
  return inOrder(starts)
    .slice(0, atMost)
    .map((start) => ({ start, end: start + length }))
}

/** Does a span keep the buffer from all that is busy? */
export const isFree = ({ start, end }: Span, buffer: number, busy: readonly Span[]): boolean =>
  !busy.some((one) => one.start < end + buffer && one.end > start - buffer)

/** The same times in their order and apart, so that the first that ends after an instant is the one that matters there. */
function joined(busy: readonly Span[]): Span[] {
  const apart: Span[] = []
  for (const { start, end } of busy.toSorted((one, other) => one.start - other.start)) {
    const before = apart.at(-1)
    if (before && start <= before.end) before.end = Math.max(before.end, end)
    else apart.push({ start, end })
  }
  return apart
}

const inOrder = (starts: ReadonlySet<number>) => [...starts].sort((one, other) => one - other)

/** When the windows are open, by their beginnings. */
function opened(windows: readonly Weekly[], { start, end }: Span, notBefore: number): Open[] {
  const days = { start: start - 2 * dayLength, end: end + 2 * dayLength }
  const zones = new Map([...new Set(windows.map(({ zone }) => zone))].map((zone) => [zone, steadyIn(zone, days)]))
  return windows
    .flatMap((window) => byDay(openTimes(window, zones.get(window.zone) ?? [])))
    .filter(([first]) => first !== undefined && first.start >= notBefore)
    .flat()
    .sort((one, other) => one.start - other.start)
}

const byDay = (times: readonly Open[]): Open[][] =>
  [...new Set(times.map(({ on }) => on))].map((day) => times.filter(({ on }) => on === day))
