import { dayLength, type OpenSpan, openTimes, type Span, steadySpans, type WeeklyWindow } from './open-time.ts'

/** The rules of offered slots; in milliseconds. */
export interface SlotRules {
  windows: readonly WeeklyWindow[]
  within: Span
  /** The length of a slot. */
  length: number
  /** The distance of starts, unless it is length and buffer. */
  step?: number
  /** The free time between two slots. */
  buffer: number
  /** Windows that open before this instant are left out. */
  notBefore: number
  busy: readonly Span[]
  /** The number of slots, at most. */
  atMost: number
}

/** The bookable times in order, each once. */
export function slotsOf({ windows, within, length, buffer, step, notBefore, busy, atMost }: SlotRules): Span[] {
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

/** Whether a span keeps the buffer from all busy times. */
export const isFreeSpan = ({ start, end }: Span, buffer: number, busy: readonly Span[]): boolean =>
  !busy.some((one) => one.start < end + buffer && one.end > start - buffer)

/** Merges overlapping times, so that they are in order and disjoint. */
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

/** The open spans of the windows, by their starts. */
function opened(windows: readonly WeeklyWindow[], { start, end }: Span, notBefore: number): OpenSpan[] {
  const days = { start: start - 2 * dayLength, end: end + 2 * dayLength }
  const zones = new Map([...new Set(windows.map(({ zone }) => zone))].map((zone) => [zone, steadySpans(zone, days)]))
  return windows
    .flatMap((window) => byDay(openTimes(window, zones.get(window.zone) ?? [])))
    .filter(([first]) => first !== undefined && first.start >= notBefore)
    .flat()
    .sort((one, other) => one.start - other.start)
}

const byDay = (times: readonly OpenSpan[]): OpenSpan[][] =>
  [...new Set(times.map(({ on }) => on))].map((day) => times.filter(({ on }) => on === day))
