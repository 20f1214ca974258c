import { randomBytes } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import {
  type ErasureLine,
  erasureHash,
  erasuresFileIn,
  newestErasures,
  readErasures,
  writeErasures,
} from '#server/kernel/erasure-list'
import { upsert } from '#server/ports/database/port'
import type { ErasedAccount } from './alias.ts'
import { type ErasedAccountHash, ErasedAccountHashes } from './model.ts'

const saltBytes = 16

/** Notes an erased account in the database, and in the file beside the backups. */
export async function listErased(node: Node, { account, messages }: ErasedAccount, at: number): Promise<void> {
  const known = await ErasedAccountHashes.findOne({}).lean<ErasedAccountHash>()
  const salt = known?.salt ?? randomBytes(saltBytes).toString('base64url')
  await storeErasures([{ hash: erasureHash(salt, account), salt, at: new Date(at).toISOString(), messages }])
  // Where the file cannot be written now, it is completed later.
  await completeFile(node).catch((error: unknown) => node.logger.error({ error }, 'an erasure is not in the file yet'))
}

export async function storeErasures(lines: readonly ErasureLine[]): Promise<void> {
  for (const { hash, at, ...line } of newestErasures(lines))
    await upsert(() =>
      ErasedAccountHashes.updateOne({ _id: hash }, { $set: { ...line, at: new Date(at) } }, { upsert: true }),
    )
}

/** The erasures in the file that the database lacks, because an older state of it was restored. */
export async function lackingErasures(node: Node): Promise<ErasureLine[]> {
  const { filed, stored } = await bothLists(node)
  return without(filed, stored)
}

/** Writes the erasures into the file that it lacks, because other nodes noted them. */
export async function completeFile(node: Node): Promise<void> {
  const { filed, stored } = await bothLists(node)
  if (without(stored, filed).length > 0) await writeErasures(fileOf(node), newestErasures([...filed, ...stored]))
}

const fileOf = ({ settings }: Node): string => erasuresFileIn(settings.dataDirectory)

async function bothLists(node: Node): Promise<{ filed: ErasureLine[]; stored: ErasureLine[] }> {
  // In this order, as each line is in the database before it is in the file.
  const filed = (await readErasures(fileOf(node))) ?? []
  const stored = await ErasedAccountHashes.find({}).lean<ErasedAccountHash[]>()
  return {
    filed,
    stored: stored.map(({ _id: hash, salt, at, messages }) => ({ hash, salt, at: at.toISOString(), messages })),
  }
}

function without(lines: readonly ErasureLine[], others: readonly ErasureLine[]): ErasureLine[] {
  const times = new Map(others.map(({ hash, at }) => [hash, at]))
  return lines.filter(({ hash, at }) => (times.get(hash) ?? '') < at)
}
