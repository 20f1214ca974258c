import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { mayShowFile } from '#server/domains/media/files/others'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Context } from '#server/kernel/context'
import {
  type BackgroundType,
  defaultTheme,
  drawnBackground,
  type GivenTheme,
  type NamedTheme,
  type ProfileTheme,
  presetNames,
  type ThemeRecord,
  themePresets,
} from '#shared/api/people/profile-theme'
import { AppError } from '#shared/errors'
import { webAddress } from '#shared/kit/web-address'
import { withoutUndefined } from '#shared/kit/without-undefined'
import type { ProfilePage, StoredTheme } from './model.ts'
import { changePage, type PageContent } from './pages.ts'
import { isFileHere } from './pictures.ts'

/** The displayed theme: saved fields over the defaults. */
export function displayedTheme(stored: StoredTheme | null | undefined): ProfileTheme {
  const { created_at: _, updated_at: __, ...saved } = stored ?? { created_at: '', updated_at: '' }
  return { ...defaultTheme, ...saved }
}

/** The same with its preset and named colours. */
export function namedTheme(stored: StoredTheme | null | undefined): z.input<typeof NamedTheme> {
  const theme = displayedTheme(stored)
  const { background_type, background_value, accent_color, secondary_color, text_color, card_background } = theme
  return {
    ...theme,
    theme_id: presetNames.find((name) => isDeepStrictEqual(theme, themePresets[name])) ?? null,
    colors: {
      background: background_type === 'solid' ? background_value : null,
      accent: accent_color,
      secondary: secondary_color,
      text: text_color,
      card: card_background,
      border: theme.card_border,
    },
  }
}

/** The fields of a preset and named colours; explicit fields override them. */
function fieldsOf({ theme_id, colors: named = {}, ...given }: GivenTheme): Omit<GivenTheme, 'theme_id' | 'colors'> {
  const { background, primary, accent = primary, secondary, text, card, border } = named
  const colors = { accent_color: accent, secondary_color: secondary, text_color: text, card_background: card }
  return {
    ...(theme_id && themePresets[theme_id]),
    ...(background && { background_type: 'solid' as const, background_value: background }),
    ...withoutUndefined({ ...colors, card_border: border }),
    ...withoutUndefined(given),
  }
}

export function themeRecord(user_address: string, stored: StoredTheme): z.input<typeof ThemeRecord>
export function themeRecord(user_address: string, stored: ProfilePage['theme']): z.input<typeof ThemeRecord> | null
export function themeRecord(user_address: string, stored: ProfilePage['theme']) {
  if (!stored) return null
  const { created_at, updated_at } = stored
  return { user_address, ...displayedTheme(stored), created_at, updated_at }
}

/** Saves the given fields over the saved ones. VALIDATION_ERROR for a background of another type. */
export async function saveTheme(context: Context, account: string, given: GivenTheme): Promise<StoredTheme> {
  const { theme } = await changePage(context.node, account, (page) => withTheme(context, account, page, given))
  if (!theme) throw new Error('The theme is gone')
  return theme
}

export async function withTheme(
  context: Context,
  account: string,
  page: PageContent,
  asked: GivenTheme,
): Promise<PageContent> {
  const before = page.theme ?? null
  const given = fieldsOf(asked)
  const now = new Date(context.node.now()).toISOString()
  const { background_type, background_value } = { ...displayedTheme(before), ...withoutUndefined(given) }
  const isNew = given.background_type !== undefined || given.background_value !== undefined
  const background = isNew
    ? await backgroundOf(context, account, background_type, background_value, before)
    : background_value
  const { background_effect, ...fields } = given
  const theme = {
    created_at: now,
    ...before,
    ...withoutUndefined(fields),
    ...(background_effect !== undefined && { background_effect: background_effect ?? 'none' }),
    background_type,
    background_value: background,
    updated_at: now,
  }
  return { ...page, theme }
}

async function backgroundOf(
  context: Context,
  account: string,
  type: BackgroundType,
  value: string,
  before: StoredTheme | null,
): Promise<string> {
  const drawn = type === 'image' ? await imageOf(context, account, value, before) : drawnBackground(type, value)
  if (drawn !== null) return drawn
  throw new AppError('VALIDATION_ERROR', {
    message: `background_value: ${wanted[type]}`,
    details: { path: 'background_value' },
  })
}

const wanted: Readonly<Record<BackgroundType, string>> = {
  solid: 'not a colour',
  gradient: 'not a linear or radial gradient of two to eight colours',
  mesh: 'not one to six gradients of two to eight colours',
  image: 'not the https address of a picture, nor of one that you have uploaded here',
}

async function imageOf(
  context: Context,
  account: string,
  value: string,
  before: StoredTheme | null,
): Promise<string | null> {
  const { node } = context
  const url = webAddress(value)
  if (url === null || !(await mayShowFile(node, account, url))) return null
  if (!url.startsWith('https:') && !isFileHere(node, url)) return null
  const given = { background_value: url }
  return (await withCopiedPictures(context, storageFolders.avatar, given, ['background_value'], before))
    .background_value
}
