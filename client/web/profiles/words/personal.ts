import { dateOf } from '../clock-times.ts'
import type { Config } from '../config.ts'
import { capital, joined, linkIn, pictureIn, said, type WordsOf } from '../shown.ts'

type Personal = 'text' | 'countdown' | 'stats' | 'tech_stack' | 'currently' | 'languages'
type Counted = 'fun_counter' | 'visitor_counter' | 'streak_counter' | 'goals_checklist' | 'zodiac'

/** What somebody says of themself, in words and numbers. */
export const personal: WordsOf<Personal | Counted> = {
  text: (it) => ({
    sign: it.text('emoji'),
    prose: {
      text: it.text('text'),
      style: it.text('style') || 'body',
      size: it.text('fontSize') || 'md',
      alignment: it.text('alignment') || 'left',
    },
  }),
  countdown: (it, { now }) => {
    const date = dateOf(it.text('targetDate'))
    const left = Date.parse(it.text('targetDate')) - now
    return {
      sign: it.text('emoji') || '⏳',
      title: it.text('label') || (date && 'Countdown'),
      big: date && (left > 0 ? leftOf(it, left) : 'It is here'),
      lines: said(date),
    }
  },
  stats: (it) => ({
    facts: it
      .list('stats')
      .map((one) => ({ value: joined(one.text('emoji'), one.text('value')), label: one.text('label') }))
      .filter(({ value, label }) => value !== '' || label !== ''),
  }),
  tech_stack: (it) => {
    const chips = said(...it.list('technologies').map((one) => joined(signIn(one, 'icon'), one.text('name'))))
    return { title: chips.length > 0 ? it.text('label') || 'Works with' : it.text('label'), chips }
  },
  currently: (it) => {
    const name = it.text('title')
    return {
      title: (name || it.text('subtitle')) && capital(joined('currently', it.text('type'))),
      big: name,
      lines: said(it.text('subtitle')),
      pictures: pictureIn(it, 'imageUrl', name),
      link: linkIn(it, 'link', 'Open'),
    }
  },
  languages: (it) => {
    const items = it.list('languages').map((one) => ({
      title: one.text('name') || one.text('code').toUpperCase(),
      detail: one.text('proficiency'),
    }))
    return { title: items.length > 0 ? 'Languages' : '', items }
  },
  fun_counter: (it) => ({
    sign: it.text('emoji'),
    title: it.text('label'),
    big: joined(it.text('count'), it.number('count') === null ? '' : it.text('unit')),
  }),
  visitor_counter: (it) => ({
    title: it.text('label') || (it.text('count') && 'Visitors'),
    big: it.text('count'),
  }),
  streak_counter: (it) => {
    const units = it.text('unit') === 'custom' ? '' : it.text('unit') || 'days'
    const counted = (count: string) => joined(count, count === '1' ? units.replace(/s$/, '') : units)
    const [longest, since] = [it.text('longestStreak'), dateOf(it.text('startDate'))]
    return {
      sign: it.text('emoji') || '🔥',
      title: it.text('label') || (it.text('currentStreak') && 'Streak'),
      big: it.text('currentStreak') && counted(it.text('currentStreak')),
      lines: said(longest && `Longest: ${counted(longest)}`, since && `Since ${since}`),
    }
  },
  goals_checklist: (it) => {
    const items = it
      .list('goals')
      .map((one) => ({ title: one.text('text'), sign: one.text('emoji'), isDone: one.is('completed') }))
      .filter(({ title }) => title !== '')
    const done = items.filter(({ isDone }) => isDone).length
    const isMeasured = items.length > 0 && !it.isOff('showProgress')
    return {
      title: it.text('title') || (items.length > 0 ? 'Goals' : ''),
      meter: isMeasured ? { share: done / items.length, says: `${done} of ${items.length} reached` } : undefined,
      items,
    }
  },
  zodiac: (it) => {
    const [sign = '', dates = '', traits = ''] = zodiac[it.text('sign')] ?? []
    return {
      sign,
      title: capital(it.text('sign')),
      lines: said(it.isOff('showDates') ? '' : dates, it.isOff('showTraits') ? '' : traits),
    }
  },
}

/** An icon that is an emoji; one that is the address of a picture is left out. */
const signIn = (it: Config, field: string) => (it.text(field).includes('/') ? '' : it.text(field))

const parts = [
  ['showDays', 'd', 86_400_000],
  ['showHours', 'h', 3_600_000],
  ['showMinutes', 'min', 60_000],
] as const

/** What is left, in the units that are to be shown. */
function leftOf(it: Config, milliseconds: number): string {
  const units = parts.filter(([field]) => !it.isOff(field))
  const smallest = units.at(-1)
  if (!smallest) return ''
  let rest = Math.ceil(milliseconds / smallest[2]) * smallest[2]
  const shown = units.map(([, name, size]) => {
    const whole = Math.floor(rest / size)
    rest -= whole * size
    return `${whole} ${name}`
  })
  const first = shown.findIndex((one) => !one.startsWith('0 '))
  return shown.slice(first < 0 ? -1 : first).join(' ')
}

const zodiac: Readonly<Record<string, readonly [sign: string, dates: string, traits: string]>> = {
  aries: ['♈', '21 March to 19 April', 'Bold and direct'],
  taurus: ['♉', '20 April to 20 May', 'Patient and steady'],
  gemini: ['♊', '21 May to 20 June', 'Curious and quick'],
  cancer: ['♋', '21 June to 22 July', 'Caring and loyal'],
  leo: ['♌', '23 July to 22 August', 'Warm and proud'],
  virgo: ['♍', '23 August to 22 September', 'Careful and modest'],
  libra: ['♎', '23 September to 22 October', 'Fair and sociable'],
  scorpio: ['♏', '23 October to 21 November', 'Intense and resolute'],
  sagittarius: ['♐', '22 November to 21 December', 'Free and hopeful'],
  capricorn: ['♑', '22 December to 19 January', 'Ambitious and patient'],
  aquarius: ['♒', '20 January to 18 February', 'Independent and inventive'],
  pisces: ['♓', '19 February to 20 March', 'Gentle and dreamy'],
}
