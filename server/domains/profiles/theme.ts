import type { z } from 'zod'
import type { Node } from '#server/kernel/context'
import {
  type BackgroundType,
  defaultTheme,
  drawnBackground,
  type GivenTheme,
  type ProfileTheme,
  type ThemeRecord,
} from '#shared/api/profile-theme'
import { AppError } from '#shared/errors'
import { webAddress } from '#shared/kit/web-address'
import { withoutUndefined } from '#shared/kit/without-undefined'
import type { ProfilePage, StoredTheme } from './model.ts'
import { changePage, type PageContent } from './pages.ts'
import { isFileHere, mayShow } from './pictures.ts'

/** What is drawn: what was saved, and the defaults. */
export function drawnTheme(stored: StoredTheme | null | undefined): ProfileTheme {
  const { created_at: _, updated_at: __, ...saved } = stored ?? { created_at: '', updated_at: '' }
  return { ...defaultTheme, ...saved }
}

export function themeRecord(user_address: string, stored: StoredTheme): z.input<typeof ThemeRecord>
export function themeRecord(user_address: string, stored: ProfilePage['theme']): z.input<typeof ThemeRecord> | null
export function themeRecord(user_address: string, stored: ProfilePage['theme']) {
  if (!stored) return null
  const { created_at, updated_at } = stored
  return { user_address, ...drawnTheme(stored), created_at, updated_at }
}

/** Saves what is given over what was saved. Throws VALIDATION_ERROR for a background that is not of its type. */
export async function dress(node: Node, account: string, given: GivenTheme): Promise<StoredTheme> {
  const { theme } = await changePage(node, account, (page) => dressed(node, account, page, given))
  if (!theme) throw new Error('The theme is gone')
  return theme
}

export async function dressed(node: Node, account: string, page: PageContent, given: GivenTheme): Promise<PageContent> {
  const before = page.theme ?? null
  const now = new Date(node.now()).toISOString()
  const { background_type, background_value } = { ...drawnTheme(before), ...withoutUndefined(given) }
  const isNew = given.background_type !== undefined || given.background_value !== undefined
  const background = isNew ? await backgroundOf(node, account, background_type, background_value) : background_value
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

async function backgroundOf(node: Node, account: string, type: BackgroundType, value: string): Promise<string> {
  const drawn = type === 'image' ? await imageOf(node, account, value) : drawnBackground(type, value)
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

async function imageOf(node: Node, account: string, value: string): Promise<string | null> {
  const url = webAddress(value)
  if (url === null || !(await mayShow(node, account, url))) return null
  return url.startsWith('https:') || isFileHere(node, url) ? url : null
}
