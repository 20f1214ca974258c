import { exifOf, orientationOf } from './orientation.ts'
import { keptOf, need, type Picture, slice } from './picture.ts'

const [startOfImage, endOfImage, startOfScan] = [0xd8, 0xd9, 0xda]
const [app0, app1, app2, app14] = [0xe0, 0xe1, 0xe2, 0xee]
/** Tables, lengths and frames of all kinds: what a decoder reads. */
const isOfPicture = (code: number) => (code >= 0xc0 && code <= 0xcf && code !== 0xc8) || (code >= 0xda && code <= 0xdf)
const isFrame = (code: number) => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code)

const segment = (code: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, code, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** Keeps frames, tables, scans, color profile and orientation of a JPEG up to the end of the image. */
export function readJpeg(bytes: Buffer): Picture {
  const kept = keptOf(bytes)
  let jfif: Buffer | null = null
  let turned: number | null = null
  let size: { width: number; height: number } | null = null
  let scans = 0
  for (let at = 2; ; ) {
    kept.count()
    const code = codeAt(bytes, at)
    if (code.value === endOfImage) break
    // Of what fills the place before a marker nothing stays.
    const start = code.end - 2
    const data = slice(bytes, code.end + 2, lengthAt(bytes, code.end) - 2)
    at = code.end + 2 + data.length
    if (isFrame(code.value)) {
      need(size === null && data.length >= 6)
      size = { width: data.readUInt16BE(3), height: data.readUInt16BE(1) }
    }
    if (isOfPicture(code.value) || isProfile(code.value, data)) kept.keep(start, at)
    // Its colors are read wrongly without it.
    if (code.value === app14 && begins(data, 'Adobe') && data.length >= 12)
      kept.add(segment(app14, data.subarray(0, 12)))
    // What may stand in it beside that is a smaller picture.
    if (code.value === app0 && begins(data, 'JFIF\0') && data.length >= 14)
      jfif ??= segment(app0, Buffer.concat([data.subarray(0, 12), Buffer.alloc(2)]))
    if (code.value === app1 && begins(data, 'Exif\0\0')) turned ??= orientationOf(data.subarray(6))
    if (code.value !== startOfScan) continue
    need(size !== null)
    scans += 1
    const end = endOfScan(bytes, at)
    kept.keep(at, end)
    at = end
  }
  need(size !== null && scans > 0)
  const exif = turned === null ? null : exifOf(turned)
  const about = exif === null ? [] : [segment(app1, Buffer.concat([Buffer.from('Exif\0\0'), exif]))]
  const parts = [marker(startOfImage), ...(jfif === null ? [] : [jfif]), ...about, ...kept.parts(), marker(endOfImage)]
  return { ending: 'jpg', ...size, bytes: Buffer.concat(parts) }
}

const marker = (code: number) => Buffer.from([0xff, code])
const begins = (data: Buffer, name: string) => data.toString('latin1', 0, name.length) === name
const isProfile = (code: number, data: Buffer) => code === app2 && begins(data, 'ICC_PROFILE\0')

function codeAt(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start
  need(bytes[at] === 0xff)
  while (bytes[at] === 0xff) at += 1
  const value = bytes[at]
  need(value !== undefined && value >= 0xc0 && !(value >= 0xd0 && value <= startOfImage))
  return { value, end: at + 1 }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = slice(bytes, at, 2).readUInt16BE()
  need(length >= 2)
  return length
}

/** The position of the next marker, without stuffed bytes and restarts. There may be millions of those, so a call for each is too slow. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    if (bytes[at] !== 0xff) {
      need(at < bytes.length)
      continue
    }
    const next = bytes[at + 1]
    need(next !== undefined)
    if (next !== 0xff && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at
  }
}
