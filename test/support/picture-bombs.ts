import { crc32 } from 'node:zlib'

const megabyte = 1024 * 1024
const repeated = (piece: Buffer, bytes: number) => Buffer.alloc(Math.floor(bytes / piece.length) * piece.length, piece)
const hex = (text: string) => Buffer.from(text, 'hex')

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)])
  whole.writeUInt32BE(data.length, 0)
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4)
  return whole
}

function riff(...chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer {
  const body = chunks.map(([type, data]) => {
    const head = Buffer.from(`${type}\0\0\0\0`)
    head.writeUInt32LE(data.length, 4)
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
  })
  const start = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  start.writeUInt32LE(4 + body.reduce((sum, { length }) => sum + length, 0), 4)
  return Buffer.concat([start, ...body])
}

const canvas = (width: number, height: number, flags = 0) => {
  const head = Buffer.from([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  head.writeUIntLE(width - 1, 4, 3)
  head.writeUIntLE(height - 1, 7, 3)
  return head
}
const lossless = (width: number, height: number) => {
  const data = Buffer.alloc(8, 0x2f)
  data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  return data
}
const lossy = (width: number, height: number) => {
  const data = hex('0000009d012a00000000')
  data.writeUInt16LE(width, 6)
  data.writeUInt16LE(height, 8)
  return data
}

const jpegStart = hex('ffd8ffc0000b080001000101011100')
const jpegEnd = hex('ffda0008010100003f0000ffd9')
const pngHead = (width: number, height: number) => {
  const head = hex('00000000000000000800000000')
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  return Buffer.concat([hex('89504e470d0a1a0a'), chunk('IHDR', head)])
}
const onePixel = chunk('IDAT', hex('789c636000000002000100'))
const pngEnd = chunk('IEND', Buffer.alloc(0))
const gifStart = hex('47494638396101000100800000000000ffffff')

/** Pictures of one pixel, of so many bytes, that are made of as many pieces as fit. */
export const ofManyPieces = {
  'a JPEG of empty tables': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([jpegStart, repeated(hex('ffdb0002'), bytes), jpegEnd]),
  'a JPEG of empty comments': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([jpegStart, repeated(hex('fffe0002'), bytes), jpegEnd]),
  'a PNG of empty chunks': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([pngHead(1, 1), onePixel, repeated(chunk('IDAT', Buffer.alloc(0)), bytes), pngEnd]),
  'a PNG of empty notes': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([pngHead(1, 1), onePixel, repeated(chunk('teXt', Buffer.alloc(0)), bytes), pngEnd]),
  'a GIF of tiny frames': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([gifStart, repeated(hex('2c0000000001000100000200'), bytes), hex('3b')]),
  'a GIF of empty comments': (bytes = 5 * megabyte - 100) =>
    Buffer.concat([gifStart, hex('2c0000000001000100000200'), repeated(hex('21fe00'), bytes), hex('3b')]),
  'a WebP of empty chunks': (bytes = 5 * megabyte - 100) =>
    withRest(riff(['VP8X', canvas(1, 1)], ['VP8L', lossless(1, 1)]), repeated(hex('414c504800000000'), bytes)),
  'a WebP whose frame is of empty chunks': (bytes = 5 * megabyte - 200) =>
    riff(
      ['VP8X', canvas(1, 1, 2)],
      ['ANIM', Buffer.alloc(6)],
      ['ANMF', Buffer.concat([Buffer.alloc(16), lossyChunk, repeated(hex('414c504800000000'), bytes)])],
    ),
} as const

const lossyChunk = riff(['VP8 ', lossy(1, 1)]).subarray(12)

function withRest(webp: Buffer, rest: Buffer): Buffer {
  const whole = Buffer.concat([webp, rest])
  whole.writeUInt32LE(whole.length - 8, 4)
  return whole
}

/** Pictures of few bytes that say they are small, and are shown large. */
export const shownLarge = {
  'a GIF with a frame beyond its screen': hex('47494638396101000100800000000000ffffff2c00000000204e204e0002024401003b'),
  'a GIF with a frame far off its screen': hex(
    '47494638396101000100800000000000ffffff2cffffffff010001000002024401003b',
  ),
  'a WebP whose picture is larger than its canvas': riff(['VP8X', canvas(1, 1)], ['VP8L', lossless(16_384, 16_384)]),
  'a lossy WebP whose picture is larger than its canvas': riff(['VP8X', canvas(1, 1)], ['VP8 ', lossy(16_383, 16_383)]),
  'a WebP with a frame beyond its canvas': riff(
    ['VP8X', canvas(1, 1, 2)],
    ['ANIM', Buffer.alloc(6)],
    ['ANMF', Buffer.concat([frameHeader(0, 0, 16_384, 16_384), riff(['VP8L', lossless(16_384, 16_384)]).subarray(12)])],
  ),
  'a WebP with a picture beyond its frame': riff(
    ['VP8X', canvas(1, 1, 2)],
    ['ANIM', Buffer.alloc(6)],
    ['ANMF', Buffer.concat([frameHeader(0, 0, 1, 1), riff(['VP8L', lossless(16_384, 16_384)]).subarray(12)])],
  ),
  'a PNG with a frame beyond its canvas': Buffer.concat([
    pngHead(1, 1),
    chunk('acTL', hex('0000000100000000')),
    chunk('fcTL', hex('00000000000050000000500000000000000000000000006400000000').subarray(0, 26)),
    onePixel,
    pngEnd,
  ]),
  'a JPEG with a second frame': Buffer.concat([
    hex('ffd8ffc0000b080001000001011100ffc0000b08ffffffff01011100'),
    jpegEnd,
  ]),
}

function frameHeader(x: number, y: number, width: number, height: number): Buffer {
  const header = Buffer.alloc(16)
  for (const [at, value] of [x / 2, y / 2, width - 1, height - 1].entries()) header.writeUIntLE(value, 3 * at, 3)
  return header
}

/** A PNG that says it is of so many pixels. */
export const pngOfSize = (width: number, height: number): Buffer =>
  Buffer.concat([pngHead(width, height), onePixel, pngEnd])
