import { declaredModels } from '#server/kernel/store/model'
import { type ArchivedModel, archivedModelOf, type Share } from '#server/kernel/store/own-data'

export type OwnRow = { [field: string]: unknown }
type Declared = ReturnType<typeof declaredModels>[number]

/** The part of an archive from one model. */
export interface ArchivePart extends ArchivedModel {
  source: Declared['model']
}

const rowsAtOnce = 500

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
        .limit(rowsAtOnce)
        .lean<OwnRow[]>()
      for (const row of rows)
        if (isShown(row, share) && !before.some((other) => isOf(row, other, account)))
          yield withoutFields(row, [...secret, ...(share.hides ?? [])])
      if (rows.length < rowsAtOnce) break
      after = rows.at(-1)?._id
    }
    before.push(share)
  }
}

const idBounds = ({ _id }: OwnRow): object => (typeof _id === 'object' && _id !== null ? _id : {})

/** The filter of the rows of an account by a share; null if there can be none. */
export async function filterOf({ owner, at, through }: Share, account: string): Promise<OwnRow | null> {
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

export const withoutFields = (row: OwnRow, paths: readonly string[]): OwnRow =>
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
