import type { StorageFolder } from '#server/domains/moderation/verdict/storage-folders'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { keyAt } from '#server/ports/storage/port'
import { AppError, type ErrorCode } from '#shared/errors'

/** Stores a picture; throws UNSUPPORTED_MEDIA_TYPE for what is none. */
type Keep = (context: Context, place: StorageFolder, file: Blob) => Promise<{ url: string }>

const keeping = nodeState((): { keep?: Keep } => ({}))

/** Told at the start of a node by the domain that stores pictures. */
export function keepsPictures(node: Node, keep: Keep): void {
  keeping(node).keep = keep
}

/** Pictures that are fetched for one account. */
const most = { copies: 30, seconds: 3_600 }

type Pictures<Name extends string> = { readonly [Field in Name]?: string | null | undefined }

/**
 * The same fields, where each picture that lies elsewhere is fetched, once, and named by its copy here: whoever looks at it asks this server
 * alone. What is there already stays.
 */
export async function withCopies<Name extends string, Fields extends Pictures<Name>>(
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
  const { keep } = keeping(node)
  if (!keep) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
  if (!(await node.limits.guard('pictures-copied', signedIn(context).account, most.copies, most.seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: most.seconds })
  const none = new AppError('VALIDATION_ERROR', {
    message: `${path}: no picture could be fetched from there`,
    details: { path },
  })
  const { status, body } = await node.services.web.ask(url, { signal }).catch(instead(silent, none))
  const file = new Blob(status === 200 ? [new Uint8Array(body)] : [])
  const kept = keep(context, place, file).catch(instead(['UNSUPPORTED_MEDIA_TYPE'], none))
  return (await kept.catch(instead(silent, new AppError('SERVICE_UNAVAILABLE', { retryAfter: 5 })))).url
}

const silent: readonly ErrorCode[] = ['UPSTREAM_ERROR', 'TIMEOUT']

const instead =
  (codes: readonly ErrorCode[], refusal: AppError) =>
  (error: unknown): never => {
    throw error instanceof AppError && codes.includes(error.code) ? refusal : error
  }
