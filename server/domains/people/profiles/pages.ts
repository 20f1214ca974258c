import { UploadRecords } from '#server/domains/media/files/model'
import { removePicture } from '#server/domains/media/files/removal'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import { keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { type ProfilePage, ProfilePages } from './model.ts'

/** Is it the URL of a stored file? */
export const isFileHere = ({ settings }: Node, url: string): boolean => keyAt(settings.storageUrl, url) !== null

/** The URLs of stored files anywhere in this value. */
function filesIn(node: Node, value: unknown): string[] {
  if (typeof value === 'string') return isFileHere(node, value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap((part) => filesIn(node, part)))]
}

/** The value without URLs of other accounts' files, because pages keep the files that they show. */
export async function withoutOthersFiles<Value extends object>(
  node: Node,
  account: string,
  value: Value,
): Promise<Value> {
  const others = await filesOfOthers(node, account, filesIn(node, value))
  const kept = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.filter((item) => !others.has(item)).map(kept)
    if (typeof part !== 'object' || part === null) return part
    const fields = Object.entries(part).filter(([, field]) => !others.has(field))
    return Object.fromEntries(fields.map(([name, field]) => [name, kept(field)]))
  }
  return others.size === 0 ? value : (kept(value) as Value)
}

/** The URLs among these that another account uploaded. */
async function filesOfOthers({ settings }: Node, account: string, urls: readonly string[]): Promise<Set<unknown>> {
  if (urls.length === 0) return new Set()
  const keys = new Map(urls.map((url) => [url, keyAt(settings.storageUrl, url) ?? '']))
  const records = await UploadRecords.find({ _id: { $in: [...keys.values()] }, owner: account }, { _id: 1 }).lean()
  const own = new Set(records.map(({ _id }) => _id))
  return new Set(urls.filter((url) => !own.has(keys.get(url) ?? '')))
}

const attempts = 50

/** The page of an account; null if it was never arranged. */
export const pageOf = (account: string): Promise<ProfilePage | null> =>
  ProfilePages.findOne({ _id: account }).lean<ProfilePage>()

export type PageContent = Pick<ProfilePage, 'theme' | 'widgets'>

/**
 * Changes a page atomically. `next` is called again after a simultaneous change; its errors are thrown. Pictures that
 * are no longer shown are removed.
 */
export async function changePage(
  node: Node,
  account: string,
  next: (page: PageContent) => PageContent | Promise<PageContent>,
): Promise<PageContent> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await pageOf(account)
    const after = await next(before ?? {})
    const files = filesOn(node, after)
    if (!(await storePage(account, before?.version ?? null, after, files))) continue
    for (const url of before?.files ?? []) if (!files.includes(url)) await removePicture(node, url)
    return after
  }
  throw new AppError('CONFLICT')
}

function filesOn(node: Node, { theme, widgets = [] }: PageContent): string[] {
  const background = theme?.background_type === 'image' ? [theme.background_value] : []
  return filesIn(node, [background, widgets.map(({ config }) => config)])
}

async function storePage(_id: string, version: string | null, page: PageContent, files: string[]): Promise<boolean> {
  const { theme, widgets } = page
  const set = { ...withoutUndefined({ theme, widgets }), files, version: newId() }
  if (version !== null) return (await ProfilePages.updateOne({ _id, version }, { $set: set })).matchedCount === 1
  try {
    await ProfilePages.create({ _id, ...set })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** The URLs among these that pages show. */
export async function filesShownOnPages(urls: readonly string[]): Promise<string[]> {
  const pages = await ProfilePages.find({ files: { $in: [...urls] } }, { files: 1 }).lean<ProfilePage[]>()
  return pages.flatMap(({ files }) => files)
}
