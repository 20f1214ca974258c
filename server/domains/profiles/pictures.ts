import { UploadRecords } from '#server/domains/files/model'
import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'

/** Is it the address of a file in this storage? */
export const isFileHere = ({ settings }: Node, url: string): boolean => keyAt(settings.storageUrl, url) !== null

/** Whether somebody may show what lies at an address: anything elsewhere, and here what they have uploaded, as others could remove theirs. */
export async function mayShow({ settings }: Node, account: string, url: string): Promise<boolean> {
  const key = keyAt(settings.storageUrl, url)
  return key === null || (await UploadRecords.exists({ _id: key, owner: account })) !== null
}

/** The addresses of files here that stand anywhere in this. */
export function filesIn(node: Node, value: unknown): string[] {
  if (typeof value === 'string') return isFileHere(node, value) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.values(value).flatMap((part) => filesIn(node, part)))]
}

/** The same without the fields that name a file here of somebody else. */
export async function withoutOthersFiles<Value extends object>(
  node: Node,
  account: string,
  value: Value,
): Promise<Value> {
  const others = new Set<unknown>()
  for (const url of filesIn(node, value)) if (!(await mayShow(node, account, url))) others.add(url)
  const kept = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(kept)
    if (typeof part !== 'object' || part === null) return part
    const fields = Object.entries(part).filter(([, field]) => !others.has(field))
    return Object.fromEntries(fields.map(([name, field]) => [name, kept(field)]))
  }
  return others.size === 0 ? value : (kept(value) as Value)
}
