import { avcConfig, type BitWriter, bitWriter, lengthPrefixed, withEscapes } from './h264.ts'
import type { VideoConfig } from './tracks.ts'

/** Brightness and the two colours of a square of 16 by 16 pixels. */
export type Cell = readonly [y: number, u: number, v: number]

interface CellEncoder {
  config: VideoConfig
  /** The next picture, row by row; a key frame where it is asked for. */
  encode(cells: readonly Cell[], isKey: boolean): Buffer
}

const pcmType = 25
/** Predicted from above or from the left, without anything to add. */
const above = { type: 1, chroma: 2 }
const left = { type: 2, chroma: 1 }
const intraInInter = 5
const framesInSequence = 16

/** H264 baseline for pictures of coloured squares: each is unchanged, predicted, or uncompressed. No pixel is rounded. */
export function cellEncoder(columns: number, rows: number): CellEncoder {
  const sps = unit(0x67, (to) => writeSps(to, columns, rows))
  const pps = unit(0x68, writePps)
  let before: readonly Cell[] = []
  let number = 0
  let keys = 0

  return {
    config: avcConfig([sps], [pps]),
    encode(cells, isKey) {
      if (cells.length !== columns * rows) throw new RangeError('The picture has another size')
      number = isKey ? 0 : (number + 1) % framesInSequence
      if (isKey) keys = (keys + 1) % 2
      const slice = unit(isKey ? 0x65 : 0x61, (to) => {
        writeSliceHeader(to, isKey, number, keys)
        writeCells(to, cells, isKey ? null : before, columns)
      })
      before = cells
      return lengthPrefixed([slice])
    },
  }
}

function writeCells(to: BitWriter, cells: readonly Cell[], before: readonly Cell[] | null, columns: number): void {
  const written: boolean[] = []
  let skipped = 0
  for (const [index, cell] of cells.entries()) {
    if (before && same(before[index], cell)) {
      skipped++
      continue
    }
    if (before) to.unsigned(skipped)
    skipped = 0
    const hasLeft = index % columns > 0
    const hasAbove = index >= columns
    const from =
      hasLeft && same(cells[index - 1], cell) ? left : hasAbove && same(cells[index - columns], cell) ? above : null
    const first = before ? intraInInter : 0
    if (from === null) {
      written[index] = true
      to.unsigned(first + pcmType)
      writePcm(to, cell)
      continue
    }
    to.unsigned(first + from.type)
    to.unsigned(from.chroma)
    to.signed(0)
    const isNearPcm = (hasLeft && written[index - 1]) || (hasAbove && written[index - columns])
    // No coefficient, in the code that the number of those beside it asks for.
    if (isNearPcm) to.bits(0b000011, 6)
    else to.bits(1, 1)
  }
  if (before && skipped > 0) to.unsigned(skipped)
}

function writePcm(to: BitWriter, [y, u, v]: Cell): void {
  to.align()
  for (let index = 0; index < 384; index++) to.bits(index < 256 ? y : index < 320 ? u : v, 8)
}

function writeSps(to: BitWriter, columns: number, rows: number): void {
  const level = columns * rows <= 396 ? 20 : columns * rows <= 3600 ? 31 : 40
  to.bits(66, 8)
  to.bits(0b11000000, 8)
  to.bits(level, 8)
  to.unsigned(0)
  to.unsigned(0)
  to.unsigned(2)
  to.unsigned(1)
  to.bits(0, 1)
  to.unsigned(columns - 1)
  to.unsigned(rows - 1)
  // Whole frames, direct inference, no cropping, no usage information.
  to.bits(0b1100, 4)
}

function writePps(to: BitWriter): void {
  to.unsigned(0)
  to.unsigned(0)
  to.bits(0b00, 2)
  to.unsigned(0)
  to.unsigned(0)
  to.unsigned(0)
  to.bits(0b000, 3)
  for (let index = 0; index < 3; index++) to.signed(0)
  // The filter that smooths edges can be turned off, by each slice.
  to.bits(0b100, 3)
}

function writeSliceHeader(to: BitWriter, isKey: boolean, number: number, keys: number): void {
  to.unsigned(0)
  to.unsigned(isKey ? 7 : 5)
  to.unsigned(0)
  to.bits(number, 4)
  if (isKey) {
    to.unsigned(keys)
    to.bits(0b00, 2)
  } else to.bits(0b000, 3)
  to.signed(0)
  to.unsigned(1)
}

function unit(header: number, write: (to: BitWriter) => void): Buffer {
  const to = bitWriter()
  write(to)
  to.bits(1, 1)
  to.align()
  return Buffer.concat([Buffer.from([header]), withEscapes(to.bytes())])
}

const same = (one: Cell | undefined, other: Cell): boolean =>
  one !== undefined && one[0] === other[0] && one[1] === other[1] && one[2] === other[2]
