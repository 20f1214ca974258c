import type { StorageFolder } from '#server/domains/moderation/verdict/storage-folders'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { keyAt } from '#server/ports/storage/port'
import { AppError, type ErrorCode } from '#shared/errors'
import { UploadRecords } from './model.ts'

/** Stores a picture. Throws UNSUPPORTED_MEDIA_TYPE for anything else. */
type StorePicture = (context: Context, place: StorageFolder, file: Blob) => Promise<{ url: string }>

const pictureStoreOn = nodeState((): { keep?: StorePicture } => ({}))

/** Sets the function by which the uploads domain stores pictures. */
export function setPictureStore(node: Node, keep: StorePicture): void {
  pictureStoreOn(node).keep = keep
}

/** The limit of fetched pictures per account. */
const most = { copies: 30, seconds: 3_600 }

type Pictures<Name extends string> = { readonly [Field in Name]?: string | null | undefined }

/** Replaces remote pictures by local copies, so that readers ask this server alone. Unchanged pictures stay. */
export async function withCopiedPictures<Name extends string, Fields extends Pictures<Name>>(
  context: Context,
  place: StorageFolder,
  fields: Fields,
  names: readonly Name[],
  before: Pictures<Name> | null = null,
): Promise<Fields> {
  let copied = fields
  for (const name of names) {
    const url = fields[name]
    if (url && url !== before?.[name] && keyAt(context.node.settings.storageUrl, url) === null)
      copied = { ...copied, [name]: await copyOf(context, place, name, url) }
  }
  return copied
}

async function copyOf(context: Context, place: StorageFolder, path: string, url: string): Promise<string> {
  const { node, signal } = context
  const { keep } = pictureStoreOn(node)
  if (!keep) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
  if (!(await node.limits.guard('pictures-copied', signedIn(context).account, most.copies, most.seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: most.seconds })
  const none = new AppError('VALIDATION_ERROR', {
    message: `${path}: no picture could be fetched from there`,
    details: { path },
  })
  const { status, body } = await node.services.web.ask(url, { signal }).catch(refuseOn(unreachable, none))
  const file = new Blob(status === 200 ? [new Uint8Array(body)] : [])
  const kept = keep(context, place, file).catch(refuseOn(['UNSUPPORTED_MEDIA_TYPE'], none))
  return (await kept.catch(refuseOn(unreachable, new AppError('SERVICE_UNAVAILABLE', { retryAfter: 5 })))).url
}

const unreachable: readonly ErrorCode[] = ['UPSTREAM_ERROR', 'TIMEOUT']

const refuseOn =
  (codes: readonly ErrorCode[], refusal: AppError) =>
  (error: unknown): never => {
    throw error instanceof AppError && codes.includes(error.code) ? refusal : error
  }

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
