import { type Context, type Node, signedIn } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { holdShares } from '#server/kernel/held'
import { budgets } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { callerKindOf } from '#server/kernel/sockets/connection-slots'
import type { CleanFile, FileKind } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'

/** The files in memory at a time. */
const atOnce = 4
const retrySeconds = 5

const reading = nodeState(() => ({ run: fewAtOnce(atOnce), held: new Map<unknown, number>() }))

interface Given {
  file: Blob
  kinds: readonly FileKind[]
  /** The refusal for other kinds. */
  refusal: string
}

/** Calls `work` with the file without its metadata. Addresses take turns; a caller with too many waiting files is refused. */
export async function withCleanFile<T>(
  context: Context,
  { file, kinds, refusal }: Given,
  work: (clean: CleanFile) => Promise<T>,
): Promise<T> {
  const { node } = context
  const release = holdFile(context)
  try {
    return await reading(node).run(async () => {
      const bytes = new Uint8Array(await file.arrayBuffer())
      const found = await node.services.reader.clean(kinds, bytes).catch((error: unknown) => refuse(node, error))
      if (found === null) throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: refusal })
      return work(found)
    }, context.caller.ip)
  } finally {
    release()
  }
}

/** A file that crashed its reader or took too long is refused alone. */
function refuse({ logger }: Node, error: unknown): null {
  if (!(error instanceof AppError) || !['TIMEOUT', 'UPSTREAM_ERROR'].includes(error.code)) throw error
  logger.warn({ error }, 'a file could not be read')
  return null
}

function holdFile(context: Context): () => void {
  const { node } = context
  const caller = signedIn(context)
  const kind = callerKindOf(caller, node.now())
  if (kind === 'anonymous') throw new AppError('UNAUTHORIZED')
  return holdShares(
    reading(node).held,
    [
      { key: caller.account, budget: budgets.filesOfAccount, of: 'account' },
      { key: [kind, caller.ip].join(' '), budget: budgets.filesOfAddress[kind], of: 'address' },
    ],
    { scale: node.limits.scale, what: 'files that wait to be read', retryAfter: retrySeconds },
  )
}
