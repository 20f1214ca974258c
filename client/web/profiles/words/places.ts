import { profileTexts } from '../../texts/profiles.ts'
import { timeAt } from '../clock-times.ts'
import type { Config } from '../config.ts'
import { leading, optionOf, said, type WordsOf } from '../shown.ts'

const t = profileTexts.widgets

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
      link: leading(isKnown ? `https://www.openstreetmap.org/?${where}` : '', t.map),
    }
  },
  weather: (it) => {
    const units = it.text('units') === 'fahrenheit' ? 'u' : 'm'
    const place = encodeURIComponent(placeOf(it))
    return {
      sign: '🌤️',
      title: placeOf(it),
      link: leading(place && `https://wttr.in/${place}?${units}`, t.weather),
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
    const sign = signs[it.text('status')] ?? ''
    return {
      sign,
      title: sign && optionOf(it, 'status'),
      lines: said(it.text('customMessage'), ...lines, lines.length > 0 ? t.zone({ zone: cityOf(zone) }) : ''),
    }
  },
}

const signs: Readonly<Record<string, string>> = { available: '🟢', busy: '🟠', away: '🟡', dnd: '🔴', offline: '⚪' }

/** `at` is the hour there now; null where it is not known. */
function hoursIn(it: Config, at: number | null): string[] {
  const hours = it.group('workHours')
  const [start, end] = [hours.number('start'), hours.number('end')]
  if (start === null || end === null || at === null) return []
  const isWithin = start <= end ? at >= start && at < end : at >= start || at < end
  return [t.hours({ from: hour(start), to: hour(end) }), isWithin ? t.atWork : t.notAtWork]
}
