import { need, type Picture, slice } from './picture.ts'

const [extension, image, trailer] = [0x21, 0x2c, 0x3b]
const [plainText, control, application] = [0x01, 0xf9, 0xff]
/** How often it is played again, in so few bytes. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])
const longestLoop = 32
const profile = 'ICCRGBG1012'

/** Keeps the frames of a GIF, how long each is shown and how often all are played. */
export function readGif(bytes: Buffer): Picture {
  const screen = slice(bytes, 0, 13)
  const parts = [slice(bytes, 0, 13 + colorsAt(bytes, 10))]
  let at = parts[0]?.length ?? 0
  let frames = 0
  let shown: Buffer | null = null
  // Many have no end.
  for (let kind = bytes[at]; kind !== trailer && at < bytes.length; kind = bytes[at]) {
    const start = at
    if (kind === image) {
      at += 10 + colorsAt(bytes, start + 9) + 1
      at = endOfBlocks(bytes, at)
      if (shown) parts.push(shown)
      parts.push(bytes.subarray(start, at))
      shown = null
      frames += 1
      continue
    }
    need(kind === extension)
    at = endOfBlocks(bytes, start + 2)
    const whole = bytes.subarray(start, at)
    if (whole[1] === control) {
      need(whole.length === 8)
      shown = whole
    }
    // It takes what was said of the next frame for itself.
    if (whole[1] === plainText) shown = null
    if (whole[1] === application && isOfFrames(whole)) parts.push(whole)
  }
  need(frames > 0)
  return {
    ending: 'gif',
    width: screen.readUInt16LE(6),
    height: screen.readUInt16LE(8),
    parts: [...parts, Buffer.from([trailer])],
  }
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

function endOfBlocks(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = slice(bytes, at, 1).readUInt8()
    at += 1 + length
    if (length === 0) return at
  }
}
