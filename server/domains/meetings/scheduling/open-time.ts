import type { Context } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import type { scheduling as contract } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import type { InputOf, OutputOf } from '#shared/kit/contract'
import { type StoredWindow, Windows } from './model.ts'

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

const windowsAtMost = 50

/** The windows of an account, by day and start. */
export const windowsOf = (account: string): Promise<StoredWindow[]> =>
  Windows.find({ wallet_address: account }).sort({ day_of_week: 1, start_time: 1, _id: 1 }).lean<StoredWindow[]>()

type Given = InputOf<typeof contract.setWindow>

/** Adds a window, or changes the named one. */
export async function setWindow(context: Context, account: string, given: Given): Promise<StoredWindow> {
  const { dayOfWeek, startTime, endTime, timezone, name } = given
  const [start_time, end_time] = [written(startTime), written(endTime)]
  if (end_time <= start_time) throw new AppError('VALIDATION_ERROR', { message: 'endTime must be after startTime' })
  if (timezone !== undefined && !isZone(timezone))
    throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const now = new Date(context.node.now())
  const times = { day_of_week: dayOfWeek, start_time, end_time, updated_at: now }
  if (given.id !== undefined) {
    const kept = { ...(timezone === undefined ? {} : { timezone }), ...(name === undefined ? {} : { name }) }
    return changed(account, given.id, { ...times, ...kept })
  }
  const fields = { ...times, timezone: timezone ?? 'UTC', name: name ?? null, created_at: now }
  const window = { _id: context.creationId, wallet_address: account, ...fields }
  const inserted = await insertWithinLimit(Windows, window, {
    others: { wallet_address: account },
    most: windowsAtMost,
  })
  if (!inserted) throw new AppError('VALIDATION_ERROR', { message: `At most ${windowsAtMost} windows` })
  return inserted
}

async function changed(account: string, _id: string, fields: object): Promise<StoredWindow> {
  const window = await Windows.findOneAndUpdate(
    { _id, wallet_address: account },
    { $set: fields },
    { returnDocument: 'after' },
  ).lean<StoredWindow>()
  if (!window) throw new AppError('NOT_FOUND')
  return window
}

export async function removeWindow(account: string, _id: string): Promise<void> {
  const { deletedCount } = await Windows.deleteOne({ _id, wallet_address: account })
  if (deletedCount === 0) throw new AppError('NOT_FOUND')
}

const written = (time: string) => (time.length === 5 ? `${time}:00` : time)

/** The zone of an account: that of its first window. */
export const zoneOf = async (account: string): Promise<string> => (await windowsOf(account))[0]?.timezone ?? 'UTC'

export function weeklyOf({ day_of_week, start_time, end_time, timezone }: StoredWindow): WeeklyWindow {
  return { day: day_of_week, opens: sinceMidnight(start_time), closes: sinceMidnight(end_time), zone: timezone }
}

function sinceMidnight(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number)
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000
}

export const renderWindow = ({ _id, place, created_at, updated_at, ...window }: StoredWindow): Shown => ({
  id: _id,
  ...window,
  is_active: true,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
})
type Shown = OutputOf<typeof contract.setWindow>['window']

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
