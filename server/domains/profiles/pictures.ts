import { UploadRecords } from '#server/domains/files/model'
import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'

const addressAtMost = 2_000

/** The address of something in the web, written as browsers ask for it; null for another scheme, for one that names a user, and for none. */
export function webAddress(value: string): string | null {
  if (value.length > addressAtMost || !URL.canParse(value)) return null
  const { protocol, username, password, href } = new URL(value)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null
}

/** Is it the address of a file in this storage? */
export const isFileHere = ({ settings }: Node, url: string): boolean => keyAt(settings.storageUrl, url) !== null

/** Whether somebody may show what lies at an address: anything elsewhere, and here what they have uploaded, as others could remove theirs. */
export async function mayShow({ settings }: Node, account: string, url: string): Promise<boolean> {
  const key = keyAt(settings.storageUrl, url)
  return key === null || (await UploadRecords.exists({ _id: key, owner: account })) !== null
}
