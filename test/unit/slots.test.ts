import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type OpenSpan,
  openTimes,
  type Span,
  slotsOf,
  startOfDay,
  steadySpans,
  type WeeklyWindow,
} from '#server/domains/meetings/scheduling/open-time'

const minute = 60_000
const hour = 60 * minute
const at = (text: string) => Date.parse(text)
const iso = (time: number) => new Date(time).toISOString().replace(':00.000Z', 'Z')
const clock = (text: string) => Number(text.slice(0, 2)) * hour + Number(text.slice(3, 5)) * minute
const week = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const weekly = (zone: string, day: string, opens: string, closes: string): WeeklyWindow => ({
  zone,
  day: week.indexOf(day),
  opens: clock(opens),
  closes: clock(closes),
})
const daysAround = (day: string): Span => ({
  start: at(`${day}T00:00Z`) - 36 * hour,
  end: at(`${day}T00:00Z`) + 60 * hour,
})

describe('when a window of each week is open', () => {
  test.each<[what: string, day: string, window: WeeklyWindow, spans: string[]]>([
    ['a usual day', '2026-11-24', weekly('Europe/Berlin', 'Tue', '09:00', '17:00'), ['2026-11-24T08:00Z 8']],
    ['by summer time', '2026-07-07', weekly('Europe/Berlin', 'Tue', '09:00', '17:00'), ['2026-07-07T07:00Z 8']],
    ['a day of 23 hours', '2026-03-29', weekly('Europe/Berlin', 'Sun', '00:00', '24:00'), ['2026-03-28T23:00Z 23']],
    ['a day of 25 hours', '2026-10-25', weekly('Europe/Berlin', 'Sun', '00:00', '24:00'), ['2026-10-24T22:00Z 25']],
    [
      'over an hour that is left out',
      '2026-03-08',
      weekly('America/New_York', 'Sun', '01:00', '04:00'),
      ['2026-03-08T06:00Z 2'],
    ],
    [
      'over an hour that is there twice',
      '2026-11-01',
      weekly('America/New_York', 'Sun', '00:00', '03:00'),
      ['2026-11-01T04:00Z 4'],
    ],
    ['within an hour that is left out', '2026-03-08', weekly('America/New_York', 'Sun', '02:00', '03:00'), []],
    [
      'from within an hour that is left out',
      '2026-03-08',
      weekly('America/New_York', 'Sun', '02:30', '03:30'),
      ['2026-03-08T07:00Z 0.5'],
    ],
    [
      'to within an hour that is there twice',
      '2026-11-01',
      weekly('America/New_York', 'Sun', '00:00', '01:30'),
      ['2026-11-01T04:00Z 1.5', '2026-11-01T06:00Z 0.5'],
    ],
    ['a zone at half an hour', '2026-11-24', weekly('Asia/Kolkata', 'Tue', '09:00', '10:00'), ['2026-11-24T03:30Z 1']],
    [
      'a zone at three quarters',
      '2026-11-24',
      weekly('Asia/Kathmandu', 'Tue', '00:00', '01:00'),
      ['2026-11-23T18:15Z 1'],
    ],
    [
      'a zone that is put back by half an hour',
      '2026-04-05',
      weekly('Australia/Lord_Howe', 'Sun', '00:00', '24:00'),
      ['2026-04-04T13:00Z 24.5'],
    ],
    [
      'a day without a midnight',
      '2026-04-24',
      weekly('Africa/Cairo', 'Fri', '00:00', '02:00'),
      ['2026-04-23T22:00Z 1'],
    ],
    [
      'the last minutes of a day',
      '2026-11-24',
      weekly('Pacific/Kiritimati', 'Tue', '23:00', '24:00'),
      ['2026-11-24T09:00Z 1'],
    ],
    ['a day that a zone left out', '2011-12-30', weekly('Pacific/Apia', 'Fri', '00:00', '24:00'), []],
  ])('%s', (_what, day, window, spans) => {
    const around = daysAround(day)
    const found = openTimes(window, steadySpans(window.zone, around)).map(
      ({ start, end }) => `${iso(start)} ${(end - start) / hour}`,
    )
    expect(found).toEqual(spans)
  })

  test.each([
    ['Europe/Berlin', '2026-11-24', '2026-11-23T23:00Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00Z'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00Z'],
  ])('in %s %s begins at %s', (zone, day, begins) => expect(iso(startOfDay(zone, day))).toBe(begins))
})

const changes: readonly [zone: string, near: string][] = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Africa/Cairo', '2026-04-24'],
  ['Africa/Casablanca', '2026-02-15'],
  ['America/St_Johns', '2026-03-08'],
  ['Asia/Kathmandu', '2026-06-01'],
  ['Pacific/Apia', '2011-12-30'],
  ['Pacific/Chatham', '2026-04-05'],
]

interface Shown {
  day: number
  weekday: number
  time: number
}
const shownBy = new Map<string, (at: number) => Shown>()

/** What the clocks on the wall show. */
function wall(zone: string): (at: number) => Shown {
  const known = shownBy.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const memory = new Map<number, Shown>()
  const read = (instant: number) => {
    const shown = memory.get(instant) ?? readWall(format.format(instant))
    memory.set(instant, shown)
    return shown
  }
  shownBy.set(zone, read)
  return read
}

function readWall(shown: string): Shown {
  const midnight = at(`${shown.slice(0, 10)}T00:00Z`)
  return { day: midnight / (24 * hour), weekday: new Date(midnight).getUTCDay(), time: clock(shown.slice(11, 16)) }
}

/** Looks at the clocks on the wall at every minute. */
function openByTheMinute({ zone, day, opens, closes }: WeeklyWindow, { start, end }: Span): OpenSpan[] {
  const read = wall(zone)
  const open: OpenSpan[] = []
  for (let now = start; now < end; now += minute) {
    const { day: on, weekday, time } = read(now)
    if (weekday !== day || time < opens || time >= closes) continue
    const before = open.at(-1)
    if (before?.on === on && before.end === now) before.end = now + minute
    else open.push({ on, start: now, end: now + minute })
  }
  return open
}

const aChange = fc.constantFrom(...changes)
const aTime = fc.integer({ min: 0, max: 24 * 4 }).map((quarters) => quarters * 15 * minute)
const aWindow = fc
  .tuple(fc.integer({ min: 0, max: 6 }), aTime, aTime)
  .filter(([, one, other]) => one !== other)
  .map(([day, one, other]) => ({ day, opens: Math.min(one, other), closes: Math.max(one, other) }))

describe('against a model that looks at the clock every minute', () => {
  test('windows are open at the same times', () => {
    fc.assert(
      fc.property(aChange, aWindow, ([zone, near], window) => {
        const around = daysAround(near)
        expect(openTimes(window, steadySpans(zone, around))).toEqual(openByTheMinute({ ...window, zone }, around))
      }),
      { numRuns: 300 },
    )
  })

  test('slots are the same: within their windows, with a buffer, after the notice, at no busy time', () => {
    const few = { maxLength: 4 }
    const aBusy = fc.tuple(fc.integer({ min: -100, max: 160 }), fc.integer({ min: 1, max: 30 }))
    const lengths = fc.record({
      length: fc.integer({ min: 5, max: 90 }),
      buffer: fc.integer({ min: 0, max: 45 }),
      atMost: fc.integer({ min: 1, max: 60 }),
    })
    const aNotice = fc.integer({ min: -36, max: 36 })
    fc.assert(
      fc.property(
        aChange,
        fc.array(aWindow, few),
        fc.array(aBusy, few),
        lengths,
        aNotice,
        (change, given, taken, how, notice) => {
          const [zone, near] = change
          const midday = at(`${near}T12:00Z`)
          const offer = {
            windows: given.map((window) => ({ ...window, zone })),
            within: { start: midday - 20 * hour, end: midday + 20 * hour },
            length: how.length * minute,
            buffer: how.buffer * minute,
            atMost: how.atMost,
            notBefore: midday + notice * hour,
            busy: taken.map(([from, quarters]) => ({
              start: midday + from * 15 * minute,
              end: midday + (from + quarters) * 15 * minute,
            })),
          }
          expect(slotsOf(offer)).toEqual(slotsByTheMinute(offer))
        },
      ),
      { numRuns: 200 },
    )
  })
})

function slotsByTheMinute({
  windows,
  within,
  length,
  buffer,
  notBefore,
  busy,
  atMost,
}: Parameters<typeof slotsOf>[0]): Span[] {
  const found = new Set<number>()
  for (const window of windows) {
    const open = openByTheMinute(window, { start: within.start - 30 * hour, end: within.end + 30 * hour })
    for (const { on, start, end } of open) {
      if (open.some((one) => one.on === on && one.start < notBefore)) continue
      for (let from = start; from + length <= end; from += length + buffer) found.add(from)
    }
  }
  const isTaken = (from: number) => busy.some(({ start, end }) => from - buffer < end && start < from + length + buffer)
  return [...found]
    .filter((from) => from >= within.start && from < within.end && !isTaken(from))
    .sort((one, other) => one - other)
    .slice(0, atMost)
    .map((start) => ({ start, end: start + length }))
}

test('the most that somebody can set is answered within a few milliseconds', () => {
  const windows = Array.from({ length: 50 }, (_, at) => ({
    day: at % 7,
    opens: at * minute,
    closes: 24 * hour,
    zone: changes[at % changes.length]?.[0] ?? 'UTC',
  }))
  const start = at('2026-03-01T00:00Z')
  const offer = { windows, within: { start, end: start + 92 * 24 * hour }, length: 5 * minute, buffer: 0 }
  const ask = () => {
    const began = performance.now()
    expect(slotsOf({ ...offer, notBefore: 0, busy: [], atMost: 2_000 })).toHaveLength(2_000)
    return performance.now() - began
  }
  expect(Math.min(ask(), ask(), ask(), ask())).toBeLessThan(400)
})

test('so it is where calls fill all that the windows offer', () => {
  const windows = Array.from({ length: 50 }, (_, one) => ({ day: one % 7, opens: one, closes: 24 * hour, zone: 'UTC' }))
  const start = at('2026-03-01T00:00Z')
  const within = { start, end: start + 92 * 24 * hour }
  const busy = Array.from({ length: 5_000 }, (_, one) => ({
    start: start + one * 27 * minute,
    end: start + (one + 1) * 27 * minute,
  }))
  const began = performance.now()
  const offer = { windows, within, length: 5 * minute, buffer: 0, notBefore: 0, busy, atMost: 2_000 }
  expect(slotsOf(offer)).toEqual([])
  expect(performance.now() - began).toBeLessThan(1_500)
})
