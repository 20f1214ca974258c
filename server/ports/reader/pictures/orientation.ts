const tag = 0x01_12
const short = 3

/** The rotation of a picture by its Exif, from 1 to 8. 1 is upright, and the default. */
export function orientationOf(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 4) === 'II*\0'
  if (!isLittle && tiff.toString('latin1', 0, 4) !== 'MM\0*') return 1
  const readShort = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  try {
    const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const entries = readShort(directory)
    for (let at = directory + 2; at < directory + 2 + 12 * entries; at += 12) {
      if (readShort(at) !== tag || readShort(at + 2) !== short) continue
      const orientation = readShort(at + 8)
      return orientation >= 1 && orientation <= 8 ? orientation : 1
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return 1
}

/** Exif that says nothing else; null where there is nothing to say. */
export function exifOf(orientation: number): Buffer | null {
  if (orientation === 1) return null
  const tiff = Buffer.from('4d4d002a0000000800010112000300000001000000000000', 'hex')
  tiff.writeUInt16BE(orientation, 18)
  return Buffer.concat([tiff, Buffer.alloc(2)])
}
