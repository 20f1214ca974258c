import { UploadRecords } from '#server/domains/media/files/model'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import { Accounts } from '#server/domains/people/accounts/model'
import type { Node } from '#server/kernel/context'
import { declaredModels } from '#server/kernel/model'
import type { Share } from '#server/kernel/own-data'
import { RoomEvents } from '#server/log/model'
import type { Row } from '#server/log/types'
import { type Collection, isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { isDeleted } from '#shared/kit/person-name'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { type ErasedAccount, isBetween, rowWithout, withAlias } from './alias.ts'
import { filterOf, type OwnRow } from './rows.ts'

type Declared = ReturnType<typeof declaredModels>[number]
type Source = Declared['model']
type Stored = Collection<OwnRow & { _id: string }>

const rowsAtOnce = 500

/** So many rows were removed or changed, by their models. */
export type Counts = { [model: string]: number }

/** What a pass over the store goes through, and what it notes. */
interface Pass {
  erased: ErasedAccount
  signal: AbortSignal
  count(model: string, rows: number): void
}

/**
 * Erases every row of an account as its model declares, except the row of the account itself. It can be ended and begun anew.
 * Unchanged rows are not counted: a pass without a count has found nothing left.
 */
export async function eraseRows(erased: ErasedAccount, signal: AbortSignal): Promise<Counts> {
  const counts: Counts = {}
  const count = (model: string, rows: number) => {
    if (rows > 0) counts[model] = (counts[model] ?? 0) + rows
  }
  const pass = { erased, signal, count }
  const models = declaredModels().flatMap(({ model, own }) => (own && own !== "nobody's" ? [{ model, own }] : []))
  // What belongs to a row of the account goes before that row.
  const isThrough = ({ own }: (typeof models)[number]) => own.shares.some(({ through }) => through !== undefined)
  const inOrder = [...models.filter(isThrough), ...models.filter((one) => !isThrough(one))]
  for (const { model, own } of inOrder) {
    signal.throwIfAborted()
    if (model.modelName === RoomEvents.modelName) await eraseFromLog(pass)
    else for (const share of own.shares) await eraseShare(pass, model, share)
  }
  await removeEmptyConversations(pass)
  return counts
}

const collectionOf = (source: Source) => source.collection as unknown as Stored

/** The rows that match, a page after the other by their ids, as they are when they are read. */
async function* pagesOf({ signal }: Pass, source: Source, filter: OwnRow): AsyncGenerator<OwnRow[]> {
  const { _id: within } = filter
  const bounds = typeof within === 'object' && within !== null ? within : {}
  const isOne = typeof within === 'string'
  for (let after: unknown = null; ; ) {
    signal.throwIfAborted()
    const next = after === null || isOne ? {} : { _id: { ...bounds, $gt: after } }
    const found = collectionOf(source).find({ ...filter, ...next } as never)
    const rows = (await found.sort({ _id: 1 }).limit(rowsAtOnce).toArray()) as OwnRow[]
    if (rows.length > 0) yield rows
    if (rows.length < rowsAtOnce || isOne) return
    after = rows.at(-1)?._id
  }
}

const fieldOf = (path: string): string => path.split('.')[0] ?? path

async function eraseShare(pass: Pass, source: Source, share: Share): Promise<void> {
  const { owner, at } = share
  if (owner === null || (source.modelName === Accounts.modelName && owner === '_id')) return
  const isScanned = at === 'inside' || at === 'last word'
  const filter = isScanned ? {} : await filterOf(share, pass.erased.account)
  if (!filter) return
  for await (const rows of pagesOf(pass, source, filter)) {
    const found = rows.filter((row) => !isScanned || isNamed(row[fieldOf(owner)], pass.erased))
    if (share.becomes === 'erase' && !(at === 'inside' && owner !== '_id')) await removeRows(pass, source, found)
    else for (const row of found) await changeRow(pass, source, row, share)
  }
}

const isNamed = (value: unknown, erased: ErasedAccount): boolean => withAlias(value, erased) !== value

async function removeRows({ count }: Pass, source: Source, rows: readonly OwnRow[]): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ _id }) => _id as string)
  const { deletedCount } = await collectionOf(source).deleteMany({ _id: { $in: ids } })
  count(source.modelName, deletedCount)
}

/** Puts the alias in the place of the account in one row, and empties what goes with the person. */
async function changeRow(pass: Pass, source: Source, row: OwnRow, share: Share): Promise<void> {
  const { erased, count } = pass
  // What is between two keeps their addresses, without which neither could read it.
  if (share.becomes !== 'erase' && isBetween(row.room ?? row._id, erased.account)) return
  const field = fieldOf(share.owner ?? '')
  const cleared = 'clears' in share ? (share.clears ?? []) : []
  const value = share.becomes === 'erase' ? withoutParts(row[field], erased) : withAlias(row[field], erased)
  const change = Object.fromEntries([
    ...(value === row[field] ? [] : [[field, value]]),
    ...cleared.filter((path) => !isEmpty(row[path])).map((path) => [path, emptyOf(source, path)]),
  ])
  const { _id, ...set } = change
  if (Object.keys(change).length === 0) return
  count(source.modelName, 1)
  if (_id === undefined) {
    await collectionOf(source).updateOne({ _id: row._id as string }, { $set: set } as never)
    return
  }
  await collectionOf(source)
    .insertOne({ ...row, ...change } as never)
    .catch((error: unknown) => {
      if (!isDuplicate(error)) throw error
    })
  await collectionOf(source).deleteOne({ _id: row._id as string })
}

/** Without the parts of a list that name the account. */
const withoutParts = (value: unknown, erased: ErasedAccount): unknown =>
  Array.isArray(value) ? value.filter((part) => !isNamed(part, erased)) : null

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

function emptyOf(source: Source, path: string): unknown {
  const type = source.schema.path(path)
  if (type?.instance === 'Array') return []
  return type?.options.required ? '' : null
}

/** Reads the log of every room: senders, targets, and accounts named in it. */
async function eraseFromLog(pass: Pass): Promise<void> {
  const { erased, count } = pass
  const source = RoomEvents as unknown as Source
  for await (const rows of pagesOf(pass, source, {}))
    for (const stored of rows as unknown as Row[]) {
      // Rows of version 1 do not say so.
      const row = { ...stored, v: stored.v ?? 1 }
      const next = rowWithout(row, erased)
      if (next === row) continue
      const { sender, target, cid, reason, body, erased: seal } = next
      const set = { sender, target, cid, reason, body, ...(seal === undefined ? {} : { erased: seal }) }
      const asRead = { _id: row._id, applied_seq: row.applied_seq }
      const { matchedCount } = await collectionOf(source).updateOne(asRead as never, { $set: set } as never)
      // Another event was written into it meanwhile: the next pass finds it.
      count(source.modelName, Math.max(1, matchedCount))
    }
}

/** A conversation of two goes with the second of them. */
async function removeEmptyConversations(pass: Pass): Promise<void> {
  const { account } = pass.erased
  const rooms = declaredModels().find(({ model }) => model.modelName === 'Rooms')?.model
  if (!rooms) return
  const keys: string[] = []
  for await (const rows of pagesOf(pass, rooms, { peers: account }))
    for (const { _id } of rows) {
      if (!isBetween(_id, account)) continue
      const other = peersOf(roomOfKey(String(_id)).id).find((peer) => !isSameAccount(peer, account)) ?? ''
      if (isDeleted(other) || !(await Accounts.exists({ _id: other }))) keys.push(String(_id))
    }
  for (const key of keys)
    for (const { model } of declaredModels()) {
      const hasRoom = model.schema.path('room') !== undefined
      const filter = hasRoom ? { room: key } : { _id: { $in: [key, `${key} 2`] } }
      for await (const rows of pagesOf(pass, model, filter as OwnRow)) await removeRows(pass, model, rows)
    }
}

/** Removes the files of an account that nobody shows. Those that others see stay, with the alias. */
export async function removeFiles(node: Node, { account }: ErasedAccount, signal: AbortSignal): Promise<void> {
  const filesAtOnce = 50
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const own = { owner: account, _id: { $gt: after } }
    const found = await UploadRecords.find(own, { _id: 1 }).sort({ _id: 1 }).limit(filesAtOnce).lean()
    await removeUnnamedFiles(
      node,
      found.map(({ _id }) => _id),
    )
    if (found.length < filesAtOnce) return
    after = found.at(-1)?._id ?? ''
  }
}
