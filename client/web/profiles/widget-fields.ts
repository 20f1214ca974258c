import { z } from 'zod'
import { kindOfWidget, type WidgetCategory, WidgetConfig, type WidgetType } from '#shared/api/people/profile-widgets'
import { color, moment, prose, web, words, zone } from '#shared/api/people/widget-fields'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'

/** The sign of each type. */
export const widgetSigns: Readonly<Record<WidgetType, string>> = {
  text: '✍️',
  link: '🔗',
  social_link: '👋',
  currently: '📖',
  goals_checklist: '✅',
  stats: '🔢',
  languages: '🗣️',
  countdown: '⏳',
  tech_stack: '🧰',
  image: '🖼️',
  message_me: '💬',
  wallet: '👛',
  schedule: '📅',
  agent: '🤖',
  map: '📍',
  weather: '🌤️',
  clock: '🕰️',
  timezone_overlap: '🌍',
  video: '▶️',
  spotify: '🎵',
  github: '🐙',
  social_embed: '🗨️',
  nft: '🎴',
  tip_jar: '🫙',
  poll: '📊',
  guestbook: '📔',
  reaction_wall: '🎉',
  pet: '🐾',
  fortune_cookie: '🥠',
  photo_carousel: '🎞️',
  mood_board: '🧷',
  color_palette: '🎨',
  vinyl_record: '💿',
  polaroid_stack: '📸',
  zodiac: '♈',
  bookshelf: '📚',
  game_now_playing: '🎮',
  movie_queue: '🎬',
  podcast_favorites: '🎙️',
  availability_status: '🟢',
  streak_counter: '🔥',
  fun_counter: '🧮',
  visitor_counter: '👣',
  random_fact: '💡',
}

/** The types of a category, the plainest first, as they stand above. */
export const typesIn = (category: WidgetCategory): WidgetType[] =>
  (Object.keys(widgetSigns) as WidgetType[]).filter((type) => kindOfWidget(type).category === category)

export const titleOfWidget = (type: WidgetType): string => t.types[type] ?? t.title

const titleOfField = (type: WidgetType, name: string): string => {
  const [titles, titlesIn]: Readonly<Record<string, string>>[] = [t.fields, t.fieldsOf]
  return titlesIn?.[`${type}.${name}`] ?? titles?.[name] ?? name
}

/** What a new widget is set to before anybody has said anything of it. */
export function begun(type: WidgetType, account: string): Record<string, unknown> {
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  const beginnings: { readonly [Type in WidgetType]?: Record<string, unknown> } = {
    message_me: { address: account },
    wallet: { address: account },
    tip_jar: { address: account },
    clock: { timezone },
    timezone_overlap: { timezone, showWorkHours: true, workHours: { start: 9, end: 17 } },
    availability_status: { status: 'available' },
    currently: { type: 'reading' },
    social_link: { platform: 'website' },
    video: { platform: 'youtube' },
    pet: { petType: 'cat' },
    zodiac: { sign: 'aries' },
    countdown: { showDays: true, showHours: true, showMinutes: true },
  }
  return beginnings[type] ?? {}
}

type OneText = 'line' | 'prose' | 'address' | 'picture' | 'color' | 'moment' | 'zone'

/** How a value is asked for. */
export type Ask =
  | { kind: OneText }
  /** `isUsual`: what holds where nothing is said. */
  | { kind: 'switch'; isUsual: boolean }
  | { kind: 'number'; least: number; most: number; isWhole: boolean }
  /** `isNeeded`: one of them is always chosen. */
  | { kind: 'choice'; options: readonly string[]; isNeeded?: boolean }
  /** Some of a few. */
  | { kind: 'choices'; options: readonly string[] }
  /** Texts or numbers, one in each line. */
  | { kind: 'lines'; isNumber: boolean }
  | { kind: 'list'; fields: readonly Field[]; hasId: boolean }
  | { kind: 'part'; fields: readonly Field[] }

export interface Field {
  name: string
  title: string
  ask: Ask
}

const simple = new Map<unknown, OneText>([
  [web, 'address'],
  [color, 'color'],
  [moment, 'moment'],
  [zone, 'zone'],
  [prose, 'prose'],
  [words, 'prose'],
])

/** What this page fills by itself, what others do, and what is set for clients that draw a widget in another way. */
const unasked = new Set([
  ...[
    'id',
    'votes',
    'reactions',
    'maxReactions',
    'authorAddress',
    'timestamp',
    'incrementable',
    'messages',
    'allowMultiple',
  ],
  ...['autoplay', 'muted', 'autoPlay', 'interval', 'showDots', 'showArrows', 'gap', 'spread', 'rotation', 'isSpinning'],
  ...['showBalance', 'showAvatar', 'showPreview', 'showStats', 'showFlags', 'postId', 'category', 'layout'],
])
/** The same of one type alone. */
const unaskedOf: { readonly [Type in WidgetType]?: readonly string[] } = {
  map: ['style'],
  spotify: ['theme'],
  mood_board: ['size'],
  tech_stack: ['color'],
  pet: ['color'],
  visitor_counter: ['style', 'count'],
}

const pictures = new Set(['imageUrl', 'coverUrl', 'posterUrl', 'avatarUrl', 'albumArt'])
const typesOfPictures: readonly WidgetType[] = ['image', 'photo_carousel', 'mood_board', 'polaroid_stack']
const isPicture = (type: WidgetType, name: string) =>
  pictures.has(name) || (name === 'url' && typesOfPictures.includes(type))
const offUnlessChosen = new Set(['completed', 'showDaily', 'showSchedule'])

/** The fields of a type, as the contract declares them. */
export const fieldsOf = (type: WidgetType): readonly Field[] => fieldsIn(type, kindOfWidget(type).config.shape)

const fieldsIn = (type: WidgetType, shape: z.ZodObject['shape']): readonly Field[] =>
  Object.entries(shape).flatMap(([name, schema]) => {
    const isAsked = !unasked.has(name) && !unaskedOf[type]?.includes(name)
    return isAsked ? [{ name, title: titleOfField(type, name), ask: askOf(type, name, schema) }] : []
  })

function askOf(type: WidgetType, name: string, schema: unknown): Ask {
  const kind = simple.get(schema)
  if (kind) return { kind: kind === 'address' && isPicture(type, name) ? 'picture' : kind }
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (inner instanceof z.ZodBoolean) return { kind: 'switch', isUsual: !offUnlessChosen.has(name) }
  if (inner instanceof z.ZodEnum) return { kind: 'choice', options: inner.options.map(String) }
  if (inner instanceof z.ZodObject) return { kind: 'part', fields: fieldsIn(type, inner.shape) }
  if (inner instanceof z.ZodNumber) {
    const { minValue, maxValue } = inner
    return { kind: 'number', least: minValue ?? -Infinity, most: maxValue ?? Infinity, isWhole: inner.isInt }
  }
  if (inner instanceof z.ZodArray) return listed(type, inner.element)
  return { kind: 'line' }
}

function listed(type: WidgetType, element: unknown): Ask {
  if (element instanceof z.ZodObject)
    return { kind: 'list', fields: fieldsIn(type, element.shape), hasId: 'id' in element.shape }
  if (element instanceof z.ZodEnum) return { kind: 'choices', options: element.options.map(String) }
  return { kind: 'lines', isNumber: element instanceof z.ZodNumber }
}

export type Fields = Readonly<Record<string, unknown>>
/** Why a value cannot be kept, by its path: `images.0.url`. */
export type Faults = Readonly<Record<string, string>>

/** What the server would refuse of a widget, and what it would leave out. */
export function faultsOf(type: WidgetType, given: Fields): Faults {
  const { data, error } = WidgetConfig(type).safeParse(given)
  if (!data) return Object.fromEntries(error.issues.map(({ path, message }) => [path.join('.'), message]))
  return Object.fromEntries(lostIn(fieldsOf(type), given, data, ''))
}

function lostIn(fields: readonly Field[], given: unknown, kept: unknown, at: string): [path: string, why: string][] {
  return fields.flatMap((field) => {
    const [value, left] = [inside(given)[field.name], inside(kept)[field.name]]
    const path = `${at}${field.name}`
    const { ask } = field
    if (ask.kind === 'part') return lostIn(ask.fields, value, left, `${path}.`)
    if (ask.kind === 'list' && Array.isArray(value))
      return value.flatMap((one, place) => lostIn(ask.fields, one, inside(left)[place], `${path}.${place}.`))
    const isLost = typeof value === 'string' && value.trim() !== '' && left === undefined
    return isLost ? [[path, whyLost(field, value)]] : []
  })
}

const inside = (value: unknown): Record<string | number, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function whyLost({ name, ask }: Field, value: string): string {
  // An address that is one is lost only where it does not lead to the platform that is chosen beside it.
  if (ask.kind === 'address' && /^https?:\/\/[^@]+$/i.test(value) && URL.canParse(value)) return t.wanted.platform
  const texts: Readonly<Record<string, string>> = t.wanted
  return texts[name] ?? texts[ask.kind] ?? t.wanted.letters
}
