import { keptOf, need, type Picture, slice } from './picture.ts'

const [extension, image, trailer] = [0x21, 0x2c, 0x3b]
const [plainText, control, application] = [0x01, 0xf9, 0xff]
/** How often it is played again, in so few bytes. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])
const longestLoop = 32
const profile = 'ICCRGBG1012'

/** Keeps the frames of a GIF, how long each is shown and how often all are played. */
export function readGif(bytes: Buffer): Picture {
  const screen = slice(bytes, 0, 13)
  // A browser makes room for a frame that is larger than the screen.
  let [width, height] = [screen.readUInt16LE(6), screen.readUInt16LE(8)]
  need(width > 0 && height > 0)
  const kept = keptOf(bytes)
  let at = 13 + colorsAt(bytes, 10)
  kept.keep(0, at)
  let frames = 0
  let shown: { start: number; end: number } | null = null
  // Many have no end.
  for (let kind = bytes[at]; kind !== trailer && at < bytes.length; kind = bytes[at]) {
    kept.count()
    const start = at
    if (kind === image) {
      const frame = slice(bytes, start, 10)
      width = Math.max(width, frame.readUInt16LE(1) + frame.readUInt16LE(5))
      height = Math.max(height, frame.readUInt16LE(3) + frame.readUInt16LE(7))
      at = endOfBlocks(bytes, start + 10 + colorsAt(bytes, start + 9) + 1)
      if (shown) kept.keep(shown.start, shown.end)
      kept.keep(start, at)
      shown = null
      frames += 1
      continue
    }
    need(kind === extension)
    at = endOfBlocks(bytes, start + 2)
    const about = bytes[start + 1]
    if (about === control) {
      need(at - start === 8)
      shown = { start, end: at }
    }
    // The plain text extension uses up the control of the next frame.
    if (about === plainText) shown = null
    if (about === application && isOfFrames(bytes.subarray(start, at))) kept.keep(start, at)
  }
  need(frames > 0)
  kept.add(Buffer.from([trailer]))
  return { ending: 'gif', width, height, bytes: Buffer.concat(kept.parts()) }
}

function isOfFrames(whole: Buffer): boolean {
  const name = whole.toString('latin1', 3, 14)
  return name === profile || (loops.has(name) && whole.length <= longestLoop)
}

/** How many bytes the table of colors takes that these flags tell of. */
function colorsAt(bytes: Buffer, at: number): number {
  const flags = slice(bytes, at, 1).readUInt8()
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** There may be millions of them, of a byte each. */
function endOfBlocks(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = bytes[at]
    need(length !== undefined)
    at += 1 + length
    if (length === 0) return at
  }
}
