import type { NamedFile } from '#server/domains/moderation/verdict/named-files'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { BugReports } from './model.ts'

const refused = () =>
  new AppError('VALIDATION_ERROR', {
    message: 'mediaUrls: not a file that you have uploaded for a report of a fault',
    details: { path: 'mediaUrls' },
  })

/** The files at these addresses, each once; VALIDATION_ERROR where one was not uploaded by this account to show a fault. */
export function ownFiles({ settings }: Node, account: string, urls: readonly string[]): NamedFile[] {
  const { bucket, folder } = storageFolders.bugReport
  const own = `${bucket}/${folder}/${account.toLowerCase()}/`
  return [...new Set(urls)].map((url) => {
    const key = keyAt(settings.storageUrl, url)
    if (!key?.startsWith(own)) throw refused()
    return { url, key }
  })
}

/** The same where the file is there no more, or is somebody else's: two accounts may differ in the case of their letters alone. */
export function refuseMissing(missing: ReadonlySet<string>): void {
  if (missing.size > 0) throw refused()
}

/** What shows a fault stays while its report names it. */
export async function mediaAmong(urls: readonly string[], { settings }: Node) {
  const keys = urls.flatMap((url) => keyAt(settings.storageUrl, url) ?? [])
  const found = await BugReports.find({ media_keys: { $in: keys } }, { media_keys: 1 }).lean()
  return found.flatMap(({ media_keys }) => media_keys)
}
