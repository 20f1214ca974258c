import { crc32 } from 'node:zlib'
import { CATALOG } from './catalog.ts'
import { treeKey } from './keys.ts'

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
