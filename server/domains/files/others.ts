import type { Node } from '#server/kernel/context'
import { keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { UploadRecords } from './model.ts'

/** Throws VALIDATION_ERROR for the address of a file here that somebody else has uploaded: who shows it would keep it when they delete it. */
export async function refuseOthersFile(
  { settings }: Pick<Node, 'settings'>,
  account: string,
  address: string | null | undefined,
  path: string,
): Promise<void> {
  const key = address ? keyAt(settings.storageUrl, address) : null
  if (key === null || (await UploadRecords.exists({ _id: key, owner: account }))) return
  throw new AppError('VALIDATION_ERROR', {
    message: `${path}: not a picture that you have uploaded here`,
    details: { path },
  })
}
