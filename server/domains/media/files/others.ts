import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { UploadRecords } from './model.ts'

/** Whether an account may show an address: any remote one, and its own uploads here. */
export async function mayShowFile(
  { settings }: Pick<Node, 'settings'>,
  account: string,
  url: string,
): Promise<boolean> {
  const key = keyAt(settings.storageUrl, url)
  return key === null || (await UploadRecords.exists({ _id: key, owner: account })) !== null
}

/** Throws VALIDATION_ERROR for another account's upload: the reference would outlive the file's deletion. */
export async function refuseOthersFile(
  node: Pick<Node, 'settings'>,
  account: string,
  address: string | null | undefined,
  path: string,
): Promise<void> {
  if (!address || (await mayShowFile(node, account, address))) return
  throw new AppError('VALIDATION_ERROR', {
    message: `${path}: not a picture that you have uploaded here`,
    details: { path },
  })
}
