import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { declaredModels } from '#server/kernel/store/model'
import { type ArchivedModel, archivedModelOf, type Share } from '#server/kernel/store/own-data'
import { RoomEvents } from '#server/log/model'
import type { Row } from '#server/log/types'
import { type Collection, isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { isDeleted } from '#shared/kit/person-name'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { type ErasedAccount, isBetween, rowWithout, withAlias } from './alias.ts'

type OwnRow = { [field: string]: unknown }
type DeclaredRows = ReturnType<typeof declaredModels>[number]

/** The part of an archive from one model. */
export interface ArchivePart extends ArchivedModel {
  source: DeclaredRows['model']
}

const readAtOnce = 500

/** The parts of an archive by domain, in alphabetical order. */
export function partsByDomain(): Map<string, ArchivePart[]> {
  const parts = declaredModels().flatMap(({ model, own }): ArchivePart[] => {
    const archived = own && archivedModelOf(model.modelName, own)
    return archived ? [{ ...archived, source: model }] : []
  })
  const domains = [...new Set(parts.map(({ domain }) => domain))].sort()
  return new Map(domains.map((name) => [name, parts.filter(({ domain }) => domain === name)]))
}

/** The distinct rows of a model that an account may see, by id. */
export async function* ownRows({ source, shares, secret }: ArchivePart, account: string): AsyncGenerator<OwnRow> {
  const before: Share[] = []
  for (const share of shares) {
    const owned = await filterOf(share, account)
    let after: unknown = null
    while (owned) {
      const next = after === null ? {} : { _id: { ...idBounds(owned), $gt: after } }
      const rows = await source
        .find({ ...owned, ...next })
        .sort({ _id: 1 })
        .limit(readAtOnce)
        .lean<OwnRow[]>()
      for (const row of rows)
        if (isShown(row, share) && !before.some((other) => isOf(row, other, account)))
          yield withoutFields(row, [...secret, ...(share.hides ?? [])])
      if (rows.length < readAtOnce) break
      after = rows.at(-1)?._id
    }
    before.push(share)
  }
}

const idBounds = ({ _id }: OwnRow): object => (typeof _id === 'object' && _id !== null ? _id : {})

/** The filter of the rows of an account by a share; null if there can be none. */
async function filterOf({ owner, at, through }: Share, account: string): Promise<OwnRow | null> {
  if (owner === null) return null
  if (at === 'first word') return { [owner]: { $gte: account, $lt: `${account}!` } }
  if (through === undefined) return { [owner]: account }
  const found = declaredModels().find(({ model }) => model.modelName === through)
  const above = found?.own && found.own !== "nobody's" ? found.own.shares[0]?.owner : null
  if (!found || !above) return null
  const ids = await found.model.find({ [above]: account }, { _id: 1 }).lean<OwnRow[]>()
  return ids.length === 0 ? null : { [owner]: { $in: ids.map(({ _id }) => _id) } }
}

const isShown = (row: OwnRow, { unless = {} }: Share) =>
  Object.keys(unless).length === 0 || !Object.entries(unless).every(([field, value]) => row[field] === value)

/** Whether an earlier share covers the row. */
const isOf = (row: OwnRow, { owner, at, through }: Share, account: string) =>
  owner !== null && at === undefined && through === undefined && [row[owner]].flat().includes(account)

const withoutFields = (row: OwnRow, paths: readonly string[]): OwnRow =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([field]) => !paths.includes(field))
      .map(([field, value]) => {
        const below = paths.filter((path) => path.startsWith(`${field}.`)).map((path) => path.slice(field.length + 1))
        return [field, below.length === 0 ? value : withoutIn(value, below)]
      }),
  )

const withoutIn = (value: unknown, paths: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((one) => withoutIn(one, paths))
  return typeof value === 'object' && value !== null ? withoutFields(value as OwnRow, paths) : value
}

const types: Readonly<Record<string, object>> = {
  String: { type: ['string', 'null'] },
  Number: { type: ['number', 'null'] },
  Boolean: { type: ['boolean', 'null'] },
  Date: { type: ['string', 'null'], format: 'date-time' },
  Array: { type: 'array' },
}

/** The JSON schema of the rows of a part. */
export function partSchemaOf({ source, secret }: ArchivePart): object {
  const fields = Object.entries(source.schema.paths).filter(([path]) => !secret.includes(path))
  const properties = Object.fromEntries(
    fields.map(([path, { instance }]) => [path.split('.')[0], types[instance] ?? {}]),
  )
  return { type: 'array', items: { type: 'object', properties } }
}

type Declared = ReturnType<typeof declaredModels>[number]
type Source = Declared['model']
type Stored = Collection<OwnRow & { _id: string }>

const rowsAtOnce = 500

/** So many rows were removed or changed, by their models. */
type Counts = { [model: string]: number }

/** What a pass over the store goes through, and what it notes. */
interface Pass {
  all: readonly ErasedAccount[]
  /** Those of them that a value may name. */
  namedIn(value: unknown): ErasedAccount[]
  signal: AbortSignal
  count(erased: ErasedAccount, model: string, rows: number): void
}

/**
 * Erases every row of these accounts as its model declares, except the rows of the accounts themselves. What has to be read whole is
 * read once for all of them. It can be ended and begun anew.
 * Unchanged rows are not counted: a pass without a count has found nothing left.
 */
export async function eraseRows(all: readonly ErasedAccount[], signal: AbortSignal): Promise<Counts[]> {
  const counts = new Map(all.map((erased): [ErasedAccount, Counts] => [erased, {}]))
  const count = (erased: ErasedAccount, model: string, rows: number) => {
    const own = counts.get(erased)
    if (own && rows > 0) own[model] = (own[model] ?? 0) + rows
  }
  const pass = { all, namedIn: finderOf(all), signal, count }
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
  return [...counts.values()]
}

const collectionOf = (source: Source) => source.collection as unknown as Stored

/** The rows that match, a page after the other by their ids, as they are when they are read. */
async function* pagesOf({ signal }: Pass, source: Source, filter: OwnRow): AsyncGenerator<OwnRow[]> {
  const { _id: within } = filter
  const bounds = typeof within === 'object' && within !== null ? within : {}
  for (let after: unknown = null; ; ) {
    signal.throwIfAborted()
    const next = after === null ? {} : { _id: { ...bounds, $gt: after } }
    const found = collectionOf(source).find({ ...filter, ...next } as never)
    const rows = (await found.sort({ _id: 1 }).limit(rowsAtOnce).toArray()) as OwnRow[]
    after = rows.at(-1)?._id
    if (rows.length > 0) yield rows
    if (rows.length < rowsAtOnce) return
  }
}

const fieldOf = (path: string): string => path.split('.')[0] ?? path

async function eraseShare(pass: Pass, source: Source, share: Share): Promise<void> {
  const { owner, at, through } = share
  if (owner === null || (source.modelName === Accounts.modelName && owner === '_id')) return
  const isWhole = at === undefined && through === undefined
  if (isWhole || at === 'inside' || at === 'last word') {
    const filter = isWhole ? { [owner]: { $in: pass.all.map(({ account }) => account) } } : {}
    for await (const rows of pagesOf(pass, source, filter))
      for (const erased of pass.namedIn(rows.map((row) => row[fieldOf(owner)]))) {
        const found = rows.filter((row) => isNamed(row[fieldOf(owner)], erased))
        await eraseFound(pass, erased, source, found, share)
      }
    return
  }
  for (const erased of pass.all) {
    const filter = await filterOf(share, erased.account)
    if (!filter) continue
    for await (const rows of pagesOf(pass, source, filter)) await eraseFound(pass, erased, source, rows, share)
  }
}

async function eraseFound(pass: Pass, erased: ErasedAccount, source: Source, rows: OwnRow[], share: Share) {
  const isRow = share.becomes === 'erase' && !(share.at === 'inside' && share.owner !== '_id')
  if (isRow) await removeRows(pass, erased, source, rows)
  else
    for (const row of rows) {
      const change = await changeRow(pass, erased, source, row, share)
      // Another account may be named in the same row.
      Object.assign(row, change)
    }
}

const isNamed = (value: unknown, erased: ErasedAccount): boolean => withAlias(value, erased) !== value

async function removeRows(
  { count }: Pass,
  erased: ErasedAccount,
  source: Source,
  rows: readonly OwnRow[],
): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ _id }) => _id as string)
  const { deletedCount } = await collectionOf(source).deleteMany({ _id: { $in: ids } })
  count(erased, source.modelName, deletedCount)
}

/** Puts the alias in the place of the account in one row, and empties what goes with the person. */
async function changeRow(
  { count }: Pass,
  erased: ErasedAccount,
  source: Source,
  row: OwnRow,
  share: Share,
): Promise<OwnRow> {
  // What is between two keeps their addresses, without which neither could read it.
  if (share.becomes !== 'erase' && isBetween(row.room ?? row._id, erased.account)) return {}
  const field = fieldOf(share.owner ?? '')
  const cleared = 'clears' in share ? (share.clears ?? []) : []
  const value = share.becomes === 'erase' ? withoutParts(row[field], erased) : withAlias(row[field], erased)
  const also = (share.renames ?? []).map((path) => [path, withAlias(row[path], erased)] as const)
  const change = Object.fromEntries([
    ...(value === row[field] ? [] : [[field, value]]),
    ...also.filter(([path, next]) => next !== row[path]),
    ...cleared.filter((path) => !isEmpty(row[path])).map((path) => [path, emptyOf(source, path)]),
  ])
  const { _id, ...set } = change
  if (Object.keys(change).length === 0) return {}
  count(erased, source.modelName, 1)
  if (_id === undefined) {
    await collectionOf(source).updateOne({ _id: row._id as string }, { $set: set } as never)
    return change
  }
  await collectionOf(source)
    .insertOne({ ...row, ...change } as never)
    .catch((error: unknown) => {
      if (!isDuplicate(error)) throw error
    })
  await collectionOf(source).deleteOne({ _id: row._id as string })
  return change
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
  const source = RoomEvents as unknown as Source
  for await (const rows of pagesOf(pass, source, {})) {
    const writes: object[] = []
    for (const stored of rows as unknown as Row[]) {
      // Rows of version 1 do not say so.
      const row = { ...stored, v: stored.v ?? 1 }
      let next = row
      const changedBy = pass.namedIn(row).filter((erased) => {
        const before = next
        next = rowWithout(before, erased)
        return next !== before
      })
      if (changedBy.length === 0) continue
      const { sender, target, cid, reason, body, erased: seal } = next
      const set = { sender, target, cid, reason, body, ...(seal === undefined ? {} : { erased: seal }) }
      // Where none matches, another event was written into it meanwhile: the next pass finds it.
      const asRead = { _id: row._id, applied_seq: row.applied_seq }
      writes.push({ updateOne: { filter: asRead, update: { $set: set } } })
      for (const erased of changedBy) pass.count(erased, source.modelName, 1)
    }
    if (writes.length > 0) await collectionOf(source).bulkWrite(writes as never, { ordered: false })
  }
}

/** A conversation of two goes with the second of them. One with Plaza itself has no other person. */
async function removeEmptyConversations(pass: Pass): Promise<void> {
  const isErased = new Set(pass.all.map(({ account }) => account))
  const rooms = Rooms as unknown as Source
  const empty: [ErasedAccount, string][] = []
  for await (const rows of pagesOf(pass, rooms, { peers: { $in: [...isErased] } }))
    for (const { _id } of rows) {
      const key = String(_id)
      const erased = pass.all.find(({ account }) => isBetween(key, account))
      if (!erased) continue
      const other = peersOf(roomOfKey(key).id).find((peer) => !isSameAccount(peer, erased.account)) ?? ''
      const stays = { _id: other, is_erasing: { $exists: false } }
      if (
        isSameAccount(other, plazaAccount) ||
        isErased.has(other) ||
        isDeleted(other) ||
        !(await Accounts.exists(stays))
      )
        empty.push([erased, key])
    }
  for (const [erased, key] of empty)
    for (const { model } of declaredModels()) {
      const hasRoom = model.schema.path('room') !== undefined
      const filter = hasRoom ? { room: key } : { _id: { $in: [key, `${key} 2`] } }
      for await (const rows of pagesOf(pass, model, filter as OwnRow)) await removeRows(pass, erased, model, rows)
    }
}

const word = /[\w~]+/g
/** What JSON writes in place of characters that end a word. */
const escaped = /\\(?:u[\da-f]{4}|.)/g

/** Finds the accounts that a value may name. The cost does not grow with their number. */
function finderOf(all: readonly ErasedAccount[]): (value: unknown) => ErasedAccount[] {
  const byWord = new Map<string, ErasedAccount[]>()
  for (const erased of all)
    for (const name of [erased.account, erased.alias]) {
      const last = name.toLowerCase().match(word)?.at(-1) ?? ''
      byWord.set(last, [...(byWord.get(last) ?? []), erased])
    }
  return (value) => {
    const text = JSON.stringify(value)?.replace(escaped, ' ').toLowerCase()
    const words = new Set(['', ...(text?.match(word) ?? [])])
    return [...new Set([...words].flatMap((one) => byWord.get(one) ?? []))]
  }
}
