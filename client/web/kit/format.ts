import { nameOf as bareNameOf, type ChosenNames, chosenName, deletedName } from '#shared/kit/person-name'
import { kitTexts } from '../texts/kit.ts'
import { direction, locale } from '../texts/language.ts'

const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Isolates a name or a reason within a sentence, so that its writing direction does not affect the words around it. */
export function isolated(words: string): string {
  const plain = words.replace(directions, '')
  return direction === 'rtl' || rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain
}

/** The direction in which a text begins: that of its first letter. */
export const directionOf = (text: string): 'ltr' | 'rtl' =>
  rightToLeft.test(/\p{L}/u.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr'

/** The name of a person, or of one with these names, as it is shown. */
export function nameOf(named: ChosenNames | string | null | undefined, id: string): string {
  const name = named && typeof named === 'object' ? chosenName(named) : named
  return isolated(name === deletedName ? kitTexts.deletedUser : bareNameOf(name, id))
}

/** The first screen loads this module before its language, so formats are made as they are used. */
function formatOnce<Format>(make: (locale: string) => Format): () => Format {
  let made: Format | undefined
  return () => {
    made ??= make(locale)
    return made
  }
}

const clock = formatOnce((tag) => new Intl.DateTimeFormat(tag, { timeStyle: 'short' }))
const dayOfWeek = formatOnce((tag) => new Intl.DateTimeFormat(tag, { weekday: 'long', day: 'numeric', month: 'long' }))
const full = formatOnce((tag) => new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short' }))
const inline = formatOnce((tag) => new Intl.ListFormat(tag, { type: 'unit', style: 'short' }))

/** An hour that no change of the clocks takes away. */
const noon = 12

export const timeOf = (moment: string): string => clock().format(new Date(moment))
/** The time for a narrow margin: without AM or PM. */
export const shortTimeOf = (moment: string): string =>
  clock()
    .formatToParts(new Date(moment))
    .flatMap(({ type, value }) => (type === 'dayPeriod' ? [] : value))
    .join('')
    .trim()
export const fullTimeOf = (moment: string): string => full().format(new Date(moment))

export const dayKeyOf = (moment: string): string => new Date(moment).toDateString()

/** The day of a moment by the calendar of the person's zone, in which a day may have 23 or 25 hours. */
export function dayOf(moment: string, now = Date.now()): string {
  const key = dayKeyOf(moment)
  const today = new Date(now)
  if (key === today.toDateString()) return kitTexts.today
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1, noon)
  if (key === yesterday.toDateString()) return kitTexts.yesterday
  return dayOfWeek().format(new Date(moment))
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** The two largest units of a duration: `1 h 5 min`. */
export function lengthOf(seconds: number): string {
  let rest = Math.max(0, Math.ceil(seconds))
  const parts: string[] = []
  for (const [name, size] of units) {
    const whole = Math.floor(rest / size)
    if (whole > 0) parts.push(kitTexts.units[name]({ count: whole }))
    rest -= whole * size
  }
  return parts.slice(0, 2).join(' ') || kitTexts.units.s({ count: 0 })
}

export const secondsUntil = (moment: string | null | undefined, now: number): number =>
  moment ? Math.max(0, (Date.parse(moment) - now) / 1000) : 0

/** As `a, b, c`. */
export const listOf = (items: readonly string[]): string => inline().format(items)

export const shortAddress = (address: string): string =>
  address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address
