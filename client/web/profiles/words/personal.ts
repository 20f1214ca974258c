import { kitTexts } from '../../texts/kit.ts'
import { profileTexts } from '../../texts/profiles.ts'
import { dateOf } from '../clock-times.ts'
import { type Config, joined, linkIn, optionOf, pictureIn, said, type WordsOf } from '../shown.ts'

const t = profileTexts.widgets
type Named = Readonly<Record<string, string>>

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
      title: it.text('label') || (date && t.countdown),
      big: date && (left > 0 ? leftOf(it, left) : t.isHere),
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
    return { title: chips.length > 0 ? it.text('label') || t.tools : it.text('label'), chips }
  },
  currently: (it) => {
    const name = it.text('title')
    return {
      title: (name || it.text('subtitle')) && t.currently({ kind: it.text('type') }),
      big: name,
      lines: said(it.text('subtitle')),
      pictures: pictureIn(it, 'imageUrl', name),
      link: linkIn(it, 'link', t.open),
    }
  },
  languages: (it) => {
    const items = it.list('languages').map((one) => ({
      title: one.text('name') || one.text('code').toUpperCase(),
      detail: optionOf(one, 'proficiency'),
    }))
    return { title: items.length > 0 ? t.languages : '', items }
  },
  fun_counter: (it) => ({
    sign: it.text('emoji'),
    title: it.text('label'),
    big: joined(it.text('count'), it.number('count') === null ? '' : it.text('unit')),
  }),
  visitor_counter: (it) => ({ title: it.text('label') || t.visitors }),
  streak_counter: (it) => {
    const [longest, since] = [countOf(it, 'longestStreak'), dateOf(it.text('startDate'))]
    return {
      sign: it.text('emoji') || '🔥',
      title: it.text('label') || (it.text('currentStreak') && t.streak),
      big: countOf(it, 'currentStreak'),
      lines: said(longest && t.longest({ count: longest }), since && t.since({ date: since })),
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
      title: it.text('title') || (items.length > 0 ? t.goals : ''),
      meter: isMeasured ? { share: done / items.length, says: t.goalsDone({ done, count: items.length }) } : undefined,
      items,
    }
  },
  zodiac: (it) => {
    const name = it.text('sign')
    const [dates, traits]: readonly [Named, Named] = [profileTexts.dates, profileTexts.traits]
    return {
      sign: zodiac[name] ?? '',
      title: optionOf(it, 'sign'),
      lines: said(it.isOff('showDates') ? '' : (dates[name] ?? ''), it.isOff('showTraits') ? '' : (traits[name] ?? '')),
    }
  },
}

/** How long a streak is; empty where that is not said. */
function countOf(it: Config, field: string): string {
  const count = it.number(field)
  const counts: Readonly<Record<string, (values: { count: number }) => string>> = profileTexts.counts
  return count === null ? '' : (counts[it.text('unit') || 'days']?.({ count }) ?? it.text(field))
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
    return { whole, text: kitTexts.units[name]({ count: whole }) }
  })
  const first = shown.findIndex(({ whole }) => whole > 0)
  return shown
    .slice(first < 0 ? -1 : first)
    .map(({ text }) => text)
    .join(' ')
}

const zodiac: Named = {
  aries: '♈',
  taurus: '♉',
  gemini: '♊',
  cancer: '♋',
  leo: '♌',
  virgo: '♍',
  libra: '♎',
  scorpio: '♏',
  sagittarius: '♐',
  capricorn: '♑',
  aquarius: '♒',
  pisces: '♓',
}
