import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { mayShowFile, withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
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
import {
  type ChangedWidget,
  configBytes,
  type GivenWidget,
  kindOfWidget,
  pageBytes,
  type Widget,
  WidgetConfig,
  type WidgetSize,
  type WidgetType,
  widgetsAtMost,
} from '#shared/api/people/profile-widgets'
import { profiles as contract } from '#shared/api/people/profiles'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { webAddress } from '#shared/kit/web-address'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { boardActions, forgetBoard } from './board.ts'
import type { ProfilePage, StoredTheme, StoredWidget } from './model.ts'
import { changePage, filesShownOnPages, isFileHere, type PageContent, pageOf, withoutOthersFiles } from './pages.ts'

/** The displayed theme: saved fields over the defaults. */
function displayedTheme(stored: StoredTheme | null | undefined): ProfileTheme {
  const { created_at: _, updated_at: __, ...saved } = stored ?? { created_at: '', updated_at: '' }
  return { ...defaultTheme, ...saved }
}

/** The same with its preset and named colours. */
function namedTheme(stored: StoredTheme | null | undefined): z.input<typeof NamedTheme> {
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

function themeRecord(user_address: string, stored: StoredTheme): z.input<typeof ThemeRecord>
function themeRecord(user_address: string, stored: ProfilePage['theme']): z.input<typeof ThemeRecord> | null
function themeRecord(user_address: string, stored: ProfilePage['theme']) {
  if (!stored) return null
  const { created_at, updated_at } = stored
  return { user_address, ...displayedTheme(stored), created_at, updated_at }
}

/** Saves the given fields over the saved ones. VALIDATION_ERROR for a background of another type. */
async function saveTheme(context: Context, account: string, given: GivenTheme): Promise<StoredTheme> {
  const { theme } = await changePage(context.node, account, (page) => withTheme(context, account, page, given))
  if (!theme) throw new Error('The theme is gone')
  return theme
}

async function withTheme(
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

/** The widgets of a page by position; ties: oldest first. */
function widgetsOf(page: Pick<ProfilePage, 'widgets'> | null, user_address: string): Widget[] {
  const ordered = [...(page?.widgets ?? [])].sort((one, other) => one.position - other.position)
  return ordered.map((widget) => ({ ...widget, user_address, type: widget.widget_type }))
}

async function withAddedWidget(
  node: Node,
  account: string,
  page: PageContent,
  given: GivenWidget,
): Promise<PageContent> {
  const before = page.widgets ?? []
  const last = Math.max(-1, ...before.map(({ position }) => position))
  return checkedPage(page, [...before, await newWidget(node, account, given, last + 1, '')])
}

/** The page with these widgets instead of all others. */
async function withReplacedWidgets(
  node: Node,
  account: string,
  page: PageContent,
  given: readonly GivenWidget[],
): Promise<PageContent> {
  const widgets: StoredWidget[] = []
  for (const [at, widget] of given.entries()) widgets.push(await newWidget(node, account, widget, at, `widgets.${at}.`))
  return checkedPage(page, widgets)
}

async function withChangedWidgets(
  node: Node,
  account: string,
  page: PageContent,
  given: readonly ChangedWidget[],
): Promise<PageContent> {
  const widgets = [...(page.widgets ?? [])]
  for (const [at, change] of given.entries()) {
    const place = widgets.findIndex(({ id }) => id === change.id)
    const before = widgets[place]
    if (!before) continue
    const widget_type = change.widget_type ?? change.type ?? before.widget_type
    const path = `widgets.${at}.`
    const isOther = widget_type !== before.widget_type
    widgets[place] = {
      ...before,
      widget_type,
      size: sizeFor(widget_type, change.size ?? before.size, path),
      position: change.position ?? before.position,
      is_visible: change.is_visible ?? before.is_visible,
      config:
        change.config || isOther
          ? await configOf(node, account, widget_type, change.config ?? before.config, path)
          : before.config,
      updated_at: new Date(node.now()).toISOString(),
    }
  }
  return checkedPage(page, widgets)
}

const withoutWidget = (page: PageContent, id: string): PageContent =>
  checkedPage(page, page.widgets?.filter((widget) => widget.id !== id) ?? [])

/** VALIDATION_ERROR for too many or too large widgets. */
function checkedPage(page: PageContent, widgets: StoredWidget[]): PageContent {
  if (widgets.length > widgetsAtMost) throw invalid('widgets', `A profile has at most ${widgetsAtMost} widgets`)
  if (bytesOf(widgets) > pageBytes) throw invalid('widgets', 'There is too much in the widgets of this profile')
  return { ...page, widgets }
}

async function newWidget(
  node: Node,
  account: string,
  given: GivenWidget,
  position: number,
  path: string,
): Promise<StoredWidget> {
  const widget_type = given.widget_type ?? given.type
  if (!widget_type) throw invalid(`${path}widget_type`, 'widget_type is required')
  const { sizes, usual } = kindOfWidget(widget_type)
  const now = new Date(node.now()).toISOString()
  return {
    id: newId(),
    widget_type,
    size: sizeFor(widget_type, given.size ?? (sizes.includes('1x1') ? '1x1' : usual), path),
    position: given.position ?? position,
    is_visible: given.is_visible ?? true,
    config: await configOf(node, account, widget_type, given.config ?? {}, path),
    created_at: now,
    updated_at: now,
  }
}

function sizeFor(type: WidgetType, size: WidgetSize, path: string): WidgetSize {
  const { sizes } = kindOfWidget(type)
  if (!sizes.includes(size)) throw invalid(`${path}size`, `A widget ${type} is ${sizes.join(', ')}`)
  return size
}

/** The stored configuration of a widget. VALIDATION_ERROR for a value of another type, or too much data. */
async function configOf(
  node: Node,
  account: string,
  type: WidgetType,
  given: Readonly<Record<string, unknown>>,
  path: string,
): Promise<StoredWidget['config']> {
  const { data, error } = WidgetConfig(type).safeParse(given)
  const [issue] = error?.issues ?? []
  if (!data) throw invalid(`${path}config.${issue?.path.join('.')}`, issue?.message ?? 'Invalid')
  // Undefined fields are left out.
  const config = JSON.parse(JSON.stringify(data)) as StoredWidget['config']
  if (bytesOf(config) > configBytes) throw invalid(`${path}config`, `At most ${configBytes} bytes`)
  return withoutOthersFiles(node, account, config)
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const invalid = (path: string, why: string) =>
  new AppError('VALIDATION_ERROR', { message: `${path}: ${why}`, details: { path } })

export const profiles = defineDomain(
  contract,
  {
    async theme({ address }, context) {
      const whose = address ?? context.caller.account
      if (whose === null) throw new AppError('VALIDATION_ERROR', { message: 'address is required' })
      const page = await pageSeenBy(context, whose)
      return { ...namedTheme(page?.theme), theme: themeRecord(whose, page?.theme) }
    },

    async dress({ address: _, ...given }, context) {
      const { account } = signedIn(context)
      const stored = await saveTheme(context, account, given)
      return { ...done, ...namedTheme(stored), theme: themeRecord(account, stored) }
    },

    async widgets({ address }, context) {
      const whose = address ?? signedIn(context).account
      const page = await pageSeenBy(context, whose)
      const widgets = widgetsOf(page, whose)
      return {
        widgets: address === undefined ? widgets : widgets.filter(({ is_visible }) => is_visible),
        theme: themeRecord(whose, page?.theme),
      }
    },

    async arrange({ address: _, widgets: set, theme, ...given }, context) {
      const { node } = context
      const { account } = signedIn(context)
      if (!set) {
        const page = await changePage(node, account, (before) => withAddedWidget(node, account, before, given))
        const widget = page.widgets?.at(-1)
        return { ...done, widget: widget && widgetsOf({ widgets: [widget] }, account)[0] }
      }
      const page = await changePage(node, account, async (before) => {
        const after = await withReplacedWidgets(node, account, before, set)
        return theme ? withTheme(context, account, after, theme) : after
      })
      await forgetBoard(account, idsIn(page))
      return { ...done, widgets: widgetsOf(page, account), theme: themeRecord(account, page.theme) }
    },

    async rearrange({ widgets }, context) {
      const { account } = signedIn(context)
      await changePage(context.node, account, (before) => withChangedWidgets(context.node, account, before, widgets))
      return done
    },

    async removeWidget({ id }, context) {
      const { account } = signedIn(context)
      const page = await changePage(context.node, account, (before) => withoutWidget(before, id))
      await forgetBoard(account, idsIn(page))
      return done
    },

    ...boardActions,
  },
  { shows: filesShownOnPages },
)

const idsIn = ({ widgets = [] }: PageContent) => widgets.map(({ id }) => id)

/** The page of an account as the caller may see it. While it is suspended, others see nothing. */
async function pageSeenBy({ caller }: Context, whose: string): Promise<ProfilePage | null> {
  const [page, account] = await Promise.all([
    pageOf(whose),
    isSameAccount(whose, caller.account) ? null : accountOf(whose),
  ])
  return !account || isFound(account) ? page : null
}
