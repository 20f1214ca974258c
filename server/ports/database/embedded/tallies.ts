import { crc32 } from 'node:zlib'
import { NoDatabase } from '../port.ts'
import type { IndexRecord } from './indexes.ts'
import { treeKey } from './keys.ts'
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

const TALLIES = Buffer.of(1)
const COUNT_BYTES = 6

/** What a tree should hold. */
export interface Tally {
  count: number
  sum: number
}

/** A row has a checksum of its own. */
export const checksumOf = (key: Buffer, value?: Buffer): number => (value ? crc32(value, crc32(key)) : crc32(key))

export const tallyKey = (tree: number): Buffer => Buffer.concat([CATALOG, TALLIES, treeKey(tree)])

export function tallyBytes({ count, sum }: Tally): Buffer {
  const bytes = Buffer.allocUnsafe(COUNT_BYTES + 4)
  bytes.writeUIntBE(count, 0, COUNT_BYTES)
  bytes.writeUInt32BE(sum, COUNT_BYTES)
  return bytes
}

export const tallyIn = (bytes: Buffer): Tally => ({
  count: bytes.readUIntBE(0, COUNT_BYTES),
  sum: bytes.readUInt32BE(COUNT_BYTES),
})
