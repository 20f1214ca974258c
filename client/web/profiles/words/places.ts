import { timeAt } from '../clock-times.ts'
import type { Config } from '../config.ts'
import { joined, leading, said, type WordsOf } from '../shown.ts'

const placeOf = (it: Config) => said(it.text('city'), it.text('country')).join(', ')
const cityOf = (zone: string) => (zone.split('/').at(-1) ?? '').replaceAll('_', ' ')
const twoDigits = (value: number) => `${Math.floor(value)}`.padStart(2, '0')
const hour = (value: number) => `${twoDigits(value)}:${twoDigits((value % 1) * 60)}`

/** Where somebody is, and what time it is there. */
export const places: WordsOf<'map' | 'weather' | 'clock' | 'timezone_overlap' | 'availability_status'> = {
  map: (it) => {
    const [latitude, longitude] = [it.number('latitude'), it.number('longitude')]
    const isKnown = latitude !== null && longitude !== null
    const where = `mlat=${latitude}&mlon=${longitude}#map=${it.number('zoom') ?? 12}/${latitude}/${longitude}`
    return {
      sign: '📍',
      title: it.text('label') || placeOf(it) || (isKnown ? `${latitude}, ${longitude}` : ''),
      lines: said(it.text('label') && placeOf(it)),
      link: leading(isKnown ? `https://www.openstreetmap.org/?${where}` : '', 'Open the map'),
    }
  },
  weather: (it) => {
    const units = it.text('units') === 'fahrenheit' ? 'u' : 'm'
    const place = encodeURIComponent(placeOf(it))
    return {
      sign: '🌤️',
      title: placeOf(it),
      link: leading(place && `https://wttr.in/${place}?${units}`, 'See the weather'),
    }
  },
  clock: (it, { now }) => {
    const zone = it.text('timezone')
    const time = timeAt(zone, now, it.text('format'))
    return {
      title: time ? it.text('label') || cityOf(zone) : '',
      big: time?.time,
      lines: said(time?.day ?? ''),
    }
  },
  timezone_overlap: (it, { now }) => {
    const zone = it.text('timezone')
    const time = timeAt(zone, now, '24h')
    return {
      title: time ? it.text('label') || cityOf(zone) : '',
      big: time?.time,
      lines: it.isOff('showWorkHours') || !time ? [] : hoursIn(it, time.hour),
    }
  },
  availability_status: (it, { now }) => {
    const schedule = it.group('schedule')
    const zone = schedule.text('timezone')
    const lines = it.is('showSchedule') ? hoursIn(schedule, timeAt(zone, now, '24h')?.hour ?? null) : []
    const [sign = '', title = ''] = states[it.text('status')] ?? []
    return {
      sign,
      title,
      lines: said(it.text('customMessage'), ...lines, lines.length > 0 ? joined('Times of', cityOf(zone)) : ''),
    }
  },
}

const states: Readonly<Record<string, readonly [sign: string, title: string]>> = {
  available: ['🟢', 'Available'],
  busy: ['🟠', 'Busy'],
  away: ['🟡', 'Away'],
  dnd: ['🔴', 'Do not disturb'],
  offline: ['⚪', 'Offline'],
}

/** `at` is the hour there now; null where it is not known. */
function hoursIn(it: Config, at: number | null): string[] {
  const hours = it.group('workHours')
  const [start, end] = [hours.number('start'), hours.number('end')]
  if (start === null || end === null || at === null) return []
  const isWithin = start <= end ? at >= start && at < end : at >= start || at < end
  return [`Works from ${hour(start)} to ${hour(end)}`, isWithin ? 'At work now' : 'Not at work now']
}
