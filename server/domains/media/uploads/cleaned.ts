import { budgets } from '#server/kernel/budgets'
import { callerKindOf } from '#server/kernel/connection-slots'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { holdShares } from '#server/kernel/held'
import { nodeState } from '#server/kernel/node-state'
import type { CleanFile, FileKind } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'

/** So many files are held in the memory at a time. */
const atOnce = 4
const retrySeconds = 5

const reading = nodeState(() => ({ run: fewAtOnce(atOnce), held: new Map<unknown, number>() }))

interface Given {
  file: Blob
  kinds: readonly FileKind[]
  /** Why it is refused where it is of none of them. */
  refusal: string
}

/** Gives a file without what is written about it to what stores it. Files take turns; who has too many that wait is refused. */
export async function withCleaned<T>(
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
    })
  } finally {
    release()
  }
}

/** What ended the process that read it, or took too long there, is refused alone. */
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
