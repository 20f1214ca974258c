import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { storageOf } from '#server/domains/media/uploads/store'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { upsert } from '#server/ports/database/port'
import { archiveFolder } from '#server/ports/storage/port'
import { archiveDays, type DataExport, dataExportChanged } from '#shared/api/own-data'
import { AppError } from '#shared/errors'
import { DataExports, type StoredExport } from './model.ts'

const dayMilliseconds = 86_400_000

/** Notes that an account wants an archive, and returns the export. Throws where it had one within a day; one under way is that one. */
export async function beginExport(context: Context, account: string, include_media: boolean): Promise<StoredExport> {
  const { node } = context
  storageOf(node)
  const now = node.now()
  const begun = {
    export_id: context.creationId,
    state: 'working' as const,
    include_media,
    ...{ done: 0, total: 0, key: null, bytes: null, finished_at: null, expires_at: null },
    created_at: new Date(now),
  }
  const before = await exportOf(account)
  const leftMilliseconds = before === null ? 0 : before.created_at.getTime() + dayMilliseconds - now
  if (before && before.state !== 'failed' && leftMilliseconds > 0) {
    if (before.state === 'working') return before
    const retryAfter = Math.ceil(leftMilliseconds / 1_000)
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter, message: 'You can have one archive a day' })
  }
  // Of several at once one is written: the others find that it is not as they have read it.
  const asRead = { _id: account, ...(before ? { export_id: before.export_id, state: before.state } : {}) }
  const write = before ? { $set: begun } : { $setOnInsert: begun }
  await upsert(() => DataExports.updateOne(asRead, write, { upsert: before === null }))
  const stored = await exportOf(account)
  if (!stored) throw new AppError('CONFLICT')
  if (before?.key) await node.services.storage?.remove(before.key)
  return stored
}

/** A key that nobody can guess. */
export const newKey = (): string => `${archiveFolder}${randomBytes(24).toString('hex')}.zip`

export const exportOf = (account: string): Promise<StoredExport | null> =>
  DataExports.findOne({ _id: account }).lean<StoredExport>()

/** Changes an export, and tells its owner. False where it is not wanted any more. */
export async function changeExport(
  node: Node,
  { _id, export_id }: Pick<StoredExport, '_id' | 'export_id'>,
  change: Partial<StoredExport>,
): Promise<boolean> {
  const stored = await DataExports.findOneAndUpdate(
    { _id, export_id, state: 'working' },
    { $set: change },
    { returnDocument: 'after' },
  ).lean<StoredExport>()
  if (stored) tellEverywhere(node, { account: _id, export: shownExport(stored) })
  return stored !== null
}

const topic = 'data-export'
const Word = dataExportChanged.payload.extend({ account: z.string() })

const tellHere = ({ live }: Node, { account, ...payload }: z.output<typeof Word>): void =>
  live.send(dataExportChanged, audiences.account(account), payload)

function tellEverywhere(node: Node, word: z.output<typeof Word>): void {
  tellHere(node, word)
  node.peers.tell(topic, word)
}

/** Passes on how far the exports of other nodes are; where no words go between them, a client asks. */
export const listenToExports = (node: Node): (() => void) =>
  node.peers.listen(topic, (word) => {
    const heard = Word.safeParse(word)
    if (heard.success) tellHere(node, heard.data)
  })

export const expiryOf = (now: number): Date => new Date(now + archiveDays * dayMilliseconds)

/** Is there an archive of it that can be read? */
export const isThere = (stored: StoredExport | null, now: number): stored is StoredExport & { key: string } =>
  stored?.state === 'ready' && stored.key !== null && stored.expires_at !== null && stored.expires_at.getTime() > now

export const shownExport = (stored: StoredExport): DataExport => ({
  id: stored.export_id,
  state: stored.state,
  include_media: stored.include_media,
  done: stored.done,
  total: stored.total,
  bytes: stored.bytes,
  created_at: stored.created_at.toISOString(),
  finished_at: stored.finished_at?.toISOString() ?? null,
  expires_at: stored.expires_at?.toISOString() ?? null,
})
