import { bitReader } from './bits.ts'
import type { VideoConfig } from './tracks.ts'

const startCode = 0x49_83_42

/** The size of a key frame of profile 0; null for other frames. Throws for a truncated one. */
export function readVp9Key(frame: Uint8Array): { width: number; height: number } | null {
  const read = bitReader(frame)
  if (read.bits(2) !== 2) return null
  const profile = read.bits(1) + 2 * read.bits(1)
  if (profile !== 0 || read.flag()) return null
  const isKey = !read.flag()
  read.bits(2)
  if (!isKey || read.bits(24) !== startCode) return null
  const isRgb = read.bits(3) === 7
  if (isRgb) return null
  read.flag()
  return { width: read.bits(16) + 1, height: read.bits(16) + 1 }
}

/** Profile 0, which browsers send: 8 bits, 4:2:0. */
export function vp9Config({ width, height }: { width: number; height: number }): VideoConfig {
  const level = width * height > 983_040 ? 41 : width * height > 245_760 ? 31 : 21
  const unspecified = 2
  const description = Buffer.from([1, 0, 0, 0, 0, level, 0x82, unspecified, unspecified, unspecified, 0, 0])
  const codec = `vp09.00.${level}.08`
  return { kind: 'vp09', codec, width, height, description, inBand: Buffer.alloc(0) }
}
