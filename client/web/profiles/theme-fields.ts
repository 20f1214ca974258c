import type { CSSProperties } from 'react'
import type { z } from 'zod'
import {
  type BackgroundType,
  backgroundTypes,
  cardStyles,
  defaultTheme,
  drawnBackground,
  effects,
  fonts,
  GivenTheme,
  type ProfileTheme,
  type ThemeRecord,
} from '#shared/api/people/profile-theme'
import { colorOf, colorsIn, type Rgba, rgbaOf } from '#shared/kit/css-values'
import { webAddress } from '#shared/kit/web-address'
import { profileEditorTexts as t } from '../texts/profile-editor.ts'
import type { Ask, Faults, Field, Fields } from './widget-fields.ts'

/** What was saved, or the defaults. */
export function themeOf(record: z.output<typeof ThemeRecord> | null): ProfileTheme {
  if (!record) return defaultTheme
  const { user_address: _, created_at: __, updated_at: ___, ...theme } = record
  return theme
}

const field = (name: keyof ProfileTheme | 'first' | 'last', title: string, ask: Ask): Field => ({ name, title, ask })
const oneOf = (options: readonly string[]): Ask => ({ kind: 'choice', options, isNeeded: true })
const color: Ask = { kind: 'color' }

const values: Readonly<Record<BackgroundType, readonly Field[]>> = {
  solid: [field('background_value', t.theme.color, color)],
  gradient: [field('first', t.theme.first, color), field('last', t.theme.last, color)],
  mesh: [field('background_value', t.theme.mesh, { kind: 'prose' })],
  image: [field('background_value', t.theme.picture, { kind: 'picture' })],
}

/** The fields of the form for a theme, with those that its background has. */
export const fieldsOfTheme = ({ background_type }: ProfileTheme): readonly Field[] => [
  field('background_type', t.theme.background, oneOf(backgroundTypes)),
  ...values[background_type],
  field('text_color', t.theme.text, color),
  field('accent_color', t.theme.accent, color),
  field('secondary_color', t.theme.secondAccent, color),
  field('card_background', t.theme.cards, color),
  field('card_border', t.theme.border, color),
  field('card_style', t.theme.corners, oneOf(cardStyles)),
  field('font_family', t.theme.font, oneOf(fonts)),
  field('background_effect', t.theme.effect, oneOf(effects)),
  field('show_spritz_badge', t.theme.badge, { kind: 'switch', isUsual: true }),
]

const hexOf = (rgba: Rgba | undefined) => (rgba ? colorOf(`rgba(${rgba.join()})`) : null) ?? '#16213e'

/** A theme as the form holds it: what is null is empty, and a gradient is its first and its last colour. */
export function fieldsIn(theme: ProfileTheme): Fields {
  const colors = colorsIn(theme.background_value)
  const given = Object.entries(theme).filter(([, value]) => value !== null)
  return { first: hexOf(colors[0]), last: hexOf(colors.at(-1)), ...Object.fromEntries(given) }
}

/** What a background begins with where another type is chosen. */
const begun: Readonly<Record<BackgroundType, string>> = {
  solid: defaultTheme.background_value,
  gradient: 'linear-gradient(135deg, #0f0f23, #16213e)',
  mesh: 'radial-gradient(at 20% 20%, #2d1b3d, transparent), radial-gradient(at 80% 70%, #0f2744, #0c1929)',
  image: '',
}

/** The theme that these fields make, of which others were shown before. What is empty is none, or has its default. */
export function themeIn({ first, last, ...fields }: Fields, before: Fields): ProfileTheme {
  const given = { ...defaultTheme, card_border: null, background_value: '', ...fields } as ProfileTheme
  if (given.background_type !== before.background_type)
    return { ...given, background_value: begun[given.background_type] }
  const isDrawn = given.background_type === 'gradient' && (first !== before.first || last !== before.last)
  return isDrawn ? { ...given, background_value: `linear-gradient(135deg, ${first}, ${last})` } : given
}

/** What the server would refuse. */
export function faultsOfTheme(theme: ProfileTheme): Faults {
  const { background_type: type, background_value: value } = theme
  const { error } = GivenTheme.safeParse({ ...theme, background_value: value || undefined })
  const drawn = type === 'image' ? webAddress(value) : drawnBackground(type, value)
  const place = type === 'gradient' ? 'first' : 'background_value'
  const faults = error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? []
  return { ...Object.fromEntries(faults), ...(drawn === null && { [place]: t.themeWanted[type] }) }
}

/** What text needs to be read: WCAG 2.2, 1.4.3. */
const readable = 4.5
const black: Rgba = [0, 0, 0, 1]
const white: Rgba = [255, 255, 255, 1]

const over = (top: Rgba, below: Rgba): Rgba => {
  const mixed = (at: 0 | 1 | 2) => top[at] * top[3] + below[at] * (1 - top[3])
  return [mixed(0), mixed(1), mixed(2), 1]
}

function luminance([red, green, blue]: Rgba): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(one: Rgba, other: Rgba): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** The least contrast on these and on whatever lies between them: an ink that is lighter than one and darker than another has none there. */
function worst(ink: Rgba, grounds: readonly Rgba[]): number {
  const sides = new Set(grounds.map((ground) => luminance(over(ink, ground)) > luminance(ground)))
  return sides.size > 1 ? 1 : Math.min(...grounds.map((ground) => contrast(over(ink, ground), ground)))
}

/** What may lie behind a card. Where that is not known, it is anything between black and white. */
function groundsOf({ background_type, background_value }: ProfileTheme): readonly Rgba[] {
  const named = background_type === 'image' ? [] : colorsIn(background_value)
  const isWhole =
    named.length > 0 && named.every(([, , , alpha]) => alpha === 1) && !background_value.includes('transparent')
  return isWhole ? named : [...named.map((color) => over(color, white)), black, white]
}

const written = (color: Rgba) =>
  colorOf(`rgba(${color.map((part, at) => (at < 3 ? Math.round(part) : part)).join()})`) ?? 'transparent'

/**
 * How a profile is drawn, as a style. `picture` is its background where that is stored here. Reading it is the reader's right: a text colour
 * that cannot be read on the cards gives way to white or black, and where neither can be read, the cards let nothing through.
 */
export function styleOf(theme: ProfileTheme, picture: string | null): CSSProperties {
  const card = rgbaOf(theme.card_background) ?? black
  const chosen = rgbaOf(theme.text_color) ?? white
  const solid: Rgba = [card[0], card[1], card[2], 1]
  const inks = [chosen, white, black]
  const grounds = groundsOf(theme).map((ground) => over(card, ground))
  const onCards = inks.find((ink) => worst(ink, grounds) >= readable)
  const ink = onCards ?? inks.find((one) => worst(one, [solid]) >= readable) ?? white
  const { background_type, background_value } = theme
  const accent = colorOf(theme.accent_color) ?? written(ink)
  const image = picture ? `url("${picture}") center / cover` : 'none'
  return {
    background: background_type === 'image' ? image : (drawnBackground(background_type, background_value) ?? 'none'),
    '--profile-ink': written(ink),
    '--profile-card': written(onCards ? card : solid),
    '--profile-line': colorOf(theme.card_border ?? '') ?? 'transparent',
    '--profile-accent': accent,
    '--profile-second': colorOf(theme.secondary_color ?? '') ?? accent,
  } as CSSProperties
}

/** Is the text colour of a theme drawn as it was chosen? */
export const isReadable = (theme: ProfileTheme): boolean => {
  const ink = (styleOf(theme, null) as Record<string, unknown>)['--profile-ink']
  return ink === colorOf(theme.text_color)
}
