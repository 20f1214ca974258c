import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { UploadRecords } from './model.ts'

/** Whether an account may show what lies at an address: anything elsewhere, and here its own uploads, as others could remove theirs. */
export async function mayShow({ settings }: Pick<Node, 'settings'>, account: string, url: string): Promise<boolean> {
  const key = keyAt(settings.storageUrl, url)
  return key === null || (await UploadRecords.exists({ _id: key, owner: account })) !== null
}

/** Throws VALIDATION_ERROR for the address of a file here that another account has uploaded: it would stay when they delete it. */
export async function refuseOthersFile(
  node: Pick<Node, 'settings'>,
  account: string,
  address: string | null | undefined,
  path: string,
): Promise<void> {
  if (!address || (await mayShow(node, account, address))) return
  throw new AppError('VALIDATION_ERROR', {
    message: `${path}: not a picture that you have uploaded here`,
    details: { path },
  })
}
