import type { WidgetType } from '#shared/api/people/profile-widgets'
import { locale } from '../texts/language.ts'
import { profileTexts as t } from '../texts/profiles.ts'

/** What a widget is set to, field by field. A field of another kind than is asked for is taken for absent, as in what other versions stored. */
export interface Config {
  /** A text, or a number as text; empty where there is none. */
  text(field: string): string
  number(field: string): number | null
  list(field: string): readonly Config[]
  texts(field: string): readonly string[]
  numbers(field: string): readonly number[]
  group(field: string): Config
  counts(field: string): readonly (readonly [name: string, count: number])[]
  is(field: string): boolean
  /** Of what is shown unless somebody says no. */
  isOff(field: string): boolean
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

export function configOf(value: unknown): Config {
  const fields = fieldsOf(value)
  const listed = (field: string): readonly unknown[] => {
    const found = fields[field]
    return Array.isArray(found) ? found : []
  }
  const number = (field: string) => {
    const found = fields[field]
    return isNumber(found) ? found : null
  }
  return {
    text(field) {
      const found = fields[field]
      return typeof found === 'string' ? found.trim() : (number(field)?.toLocaleString(locale) ?? '')
    },
    number,
    list: (field) => listed(field).map(configOf),
    texts: (field) => listed(field).filter((one): one is string => typeof one === 'string' && one.trim() !== ''),
    numbers: (field) => listed(field).filter(isNumber),
    group: (field) => configOf(fields[field]),
    counts: (field) =>
      Object.entries(fieldsOf(fields[field])).filter((pair): pair is [string, number] => isNumber(pair[1])),
    is: (field) => fields[field] === true,
    isOff: (field) => fields[field] === false,
  }
}

/** A picture that a widget names. One that lies elsewhere is a link, and is not loaded. */
export interface ShownPicture {
  url: string
  alt: string
  caption?: string | undefined
  link?: string | undefined
  /** How it fills its place: `cover`, `contain` or `fill`. */
  fit?: string | undefined
}

/** One of several things that a widget lists. */
export interface ShownItem {
  title: string
  detail?: string | undefined
  sign?: string | undefined
  /** Of a goal: whether it is reached. */
  isDone?: boolean | undefined
  /** Of an answer: its part of all votes, from 0 to 1. */
  share?: number | undefined
  link?: string | undefined
  picture?: ShownPicture | undefined
}

/** What a widget looks like: whatever is named here, in this order. */
export interface Shown {
  /** An emoji before the title. */
  sign?: string | undefined
  title?: string | undefined
  /** A number, a time or a few words that are read first. */
  big?: string | undefined
  pictures?: readonly ShownPicture[] | undefined
  /** What somebody wrote, and how it is set. */
  prose?: { text: string; style: string; size: string; alignment: string } | undefined
  lines?: readonly string[] | undefined
  /** Of which one is shown at a time, another by a press where `mayTurn`. */
  turns?: { texts: readonly string[]; first: number; mayTurn: boolean } | undefined
  /** How far something is, from 0 to 1, and in words. */
  meter?: { share: number; says: string } | undefined
  facts?: readonly { value: string; label: string }[] | undefined
  items?: readonly ShownItem[] | undefined
  chips?: readonly string[] | undefined
  colors?: readonly { hex: string; name: string; isNamed: boolean }[] | undefined
  /** Where it leads: out of the page, or to another part of it. */
  link?: { href: string; says: string } | undefined
  act?: { kind: 'message'; account: string } | { kind: 'copy'; text: string; label: string } | undefined
}

/** Who looks when at whose profile. */
export interface Seen {
  /** Milliseconds since 1970. */
  now: number
  /** The account whose profile it is. */
  owner: string
}

type Words = (it: Config, seen: Seen) => Shown
export type WordsOf<Type extends WidgetType> = Readonly<Record<Type, Words>>

export const said = (...parts: readonly string[]): string[] => parts.filter((part) => part !== '')
export const joined = (...parts: readonly string[]): string => said(...parts).join(' ')
export const dotted = (...parts: readonly string[]): string => said(...parts).join(' · ')
const plain = (value: string): string => value.replaceAll('_', ' ')
const capital = (value: string): string => plain(value).replace(/^\p{Ll}/u, (first) => first.toUpperCase())
/** A choice as people read it; one of a newer version, or a name such as Vimeo, is written as it is. */
export const titleOfOption = (option: string): string => {
  const titles: Readonly<Record<string, string>> = t.options
  return titles[option] ?? (/^[A-Z]+$/.test(option) ? option : capital(option))
}
/** A picture where one is named. */
export const pictureIn = (it: Config, field: string, alt: string): ShownPicture[] =>
  it.text(field) === '' ? [] : [{ url: it.text(field), alt }]
export const optionOf = (it: Config, field: string) => (it.text(field) === '' ? '' : titleOfOption(it.text(field)))
export const linkIn = (it: Config, field: string, says: string) => leading(it.text(field), says)
export const leading = (href: string, says: string) => (href === '' ? undefined : { href, says })
