import { UploadRecords } from '#server/domains/media/files/model'
import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'

/** Is it the URL of a stored file? */
export const isFileHere = ({ settings }: Node, url: string): boolean => keyAt(settings.storageUrl, url) !== null

/** The URLs of stored files anywhere in this value. */
export function filesIn(node: Node, value: unknown): string[] {
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
