import { NoDatabase } from '../port.ts'
import type { IndexRecord } from './indexes.ts'
import { Damaged, isSealed, seal, unseal } from './seal.ts'

/** What the file holds, by namespace; kept whole under one key. */
export interface CollectionRecord {
  tree: number
  indexes: IndexRecord[]
  /** Indexes that are not whole yet: kept up by every write, used by no read. */
  building?: IndexRecord[]
}
export interface Catalog {
  /** Of a store that the first version has written to: nothing. */
  format?: number
  nextTree: number
  collections: Record<string, CollectionRecord>
  /** Trees of indexes that are no more, while something of them is left. */
  dropped?: number[]
}

export const CATALOG = Buffer.of(0, 0)
/** Format 2 counts the keys of each tree and seals rows; 3 seals the catalog; 4 may have a journal. */
export const FORMAT = 4
export const COUNTED = 2
const FORMATS = [undefined, COUNTED, 3, FORMAT]

export const catalogBytes = (catalog: Catalog): Buffer => seal(CATALOG, Buffer.from(JSON.stringify(catalog)))

/** Throws `Damaged` where it is not what was written. */
export function catalogIn(stored: Buffer): Catalog {
  try {
    return JSON.parse(String(isSealed(stored) ? unseal(CATALOG, stored) : stored))
  } catch {
    throw new Damaged('the list of its collections is not what was written')
  }
}

/** Throws where no version up to this one has written the store. */
export function checkFormat({ format }: Catalog): void {
  if (!FORMATS.includes(format))
    throw new NoDatabase('The data directory was written by a later version of Plaza: start that version again.')
}

/** Every tree that is whole. */
export const treesOf = ({ collections }: Catalog): { name: string; tree: number; isIndex: boolean }[] =>
  Object.entries(collections).flatMap(([namespace, { tree, indexes }]) => [
    { name: namespace, tree, isIndex: false },
    ...indexes.map((index) => ({ name: `the index ${index.name} of ${namespace}`, tree: index.tree, isIndex: true })),
  ])
