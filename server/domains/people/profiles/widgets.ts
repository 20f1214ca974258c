import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
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
import { AppError } from '#shared/errors'
import type { ProfilePage, StoredWidget } from './model.ts'
import type { PageContent } from './pages.ts'
import { withoutOthersFiles } from './pictures.ts'

/** The widgets of a page by position; ties: oldest first. */
export function widgetsOf(page: Pick<ProfilePage, 'widgets'> | null, user_address: string): Widget[] {
  const ordered = [...(page?.widgets ?? [])].sort((one, other) => one.position - other.position)
  return ordered.map((widget) => ({ ...widget, user_address, type: widget.widget_type }))
}

export async function withAddedWidget(
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
export async function withReplacedWidgets(
  node: Node,
  account: string,
  page: PageContent,
  given: readonly GivenWidget[],
): Promise<PageContent> {
  const widgets: StoredWidget[] = []
  for (const [at, widget] of given.entries()) widgets.push(await newWidget(node, account, widget, at, `widgets.${at}.`))
  return checkedPage(page, widgets)
}

export async function withChangedWidgets(
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

export const withoutWidget = (page: PageContent, id: string): PageContent =>
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
