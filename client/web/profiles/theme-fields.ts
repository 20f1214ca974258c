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
import { colorOf, colorsIn, type Rgba } from '#shared/kit/css-values'
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
