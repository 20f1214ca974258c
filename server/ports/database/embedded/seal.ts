import { crc32 } from 'node:zlib'

/** What a sealed row begins with; one of an older version is text. */
const SEALED = 2
const HEAD = 5

/** A row that the disk gives back otherwise than it was written, or does not give back. */
export class Damaged extends Error {
  override readonly name = 'Damaged'
  readonly code = 'EDAMAGED'

  constructor(what: string) {
    super(`The store is damaged: ${what}. Restore a backup, or see docs/operations.md.`)
  }
}

/** A row with a checksum of itself and of the place where it belongs. */
export function seal(key: Uint8Array, row: Uint8Array): Buffer {
  const sealed = Buffer.allocUnsafe(HEAD + row.length)
  sealed[0] = SEALED
  sealed.writeUInt32BE(crc32(row, crc32(key)), 1)
  sealed.set(row, HEAD)
  return sealed
}

export const isSealed = (value: Uint8Array): boolean => value[0] === SEALED

/** The row as it was written; throws `Damaged` where it is another. */
export function unseal(key: Uint8Array, value: Uint8Array): Buffer {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  const row = bytes.subarray(HEAD)
  const isWhole = bytes.length > HEAD && isSealed(bytes) && bytes.readUInt32BE(1) === crc32(row, crc32(key))
  if (!isWhole) throw new Damaged(`the row ${Buffer.from(key).toString('hex')} is not what was written`)
  return row
}
