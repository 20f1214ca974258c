import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPicture } from '#server/ports/reader/pictures/read'
import { AppError } from '#shared/errors'
import { gifOf, jpegOf, pngOf, secret, tiffOf, webpOf } from '#test/support/pictures'

const clean = (bytes: Buffer): Buffer | null => {
  try {
    return readPicture(bytes)?.bytes ?? null
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
const makers = { jpeg: jpegOf, png: pngOf, gif: gifOf, webp: webpOf } as const
const each = Object.entries(makers) as [keyof typeof makers, (more?: Parameters<typeof jpegOf>[0]) => Buffer][]

describe.each(each)('a %s', (name, make) => {
  test('that holds nothing but its picture stays as it is, byte by byte', () => {
    const plain = make()
    expect(clean(plain)).toEqual(plain)
    expect(readPicture(plain)).toMatchObject({ ending: name === 'jpeg' ? 'jpg' : name, width: 300, height: 200 })
  })

  test('loses what is written about it, wherever that stands, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 6 }), fc.boolean(), (places, hasTail) => {
        const tail = hasTail ? Buffer.from(`<script>${secret}</script>`) : Buffer.alloc(0)
        const written = Buffer.concat([make({ about: places }), tail])
        const kept = clean(written)
        expect(kept?.includes(secret)).toBe(false)
        expect(kept).toEqual(make())
      }),
    )
  })

  test('keeps its color profile', () => {
    const profiled = make({ profile: Buffer.from('a profile'.padEnd(140, '.')) })
    expect(clean(profiled)).toEqual(profiled)
  })

  test('that was cleaned stays as it is; none is longer than it was by more than a word on how it is turned', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 4 }), fc.integer({ min: 0, max: 9 }), (about, orientation) => {
        const given = make({ about, ...(name === 'gif' ? {} : { orientation }) })
        const once = clean(given) as Buffer
        expect(clean(once)).toEqual(once)
        expect(once.length).toBeLessThanOrEqual(given.length + 50)
      }),
    )
  })

  test('that is cut is refused, or read to its end', () => {
    const whole = make({ about: [0, 1, 2] })
    for (let end = 0; end < whole.length; end += 1) {
      const kept = clean(whole.subarray(0, end))
      if (kept !== null) expect([name, kept]).toEqual(['gif', make()])
    }
  })

  test('in which any byte is another is refused, or still one', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(255), (place, byte) => {
        const changed = Buffer.from(make({ about: [0, 3] }))
        changed[place % changed.length] = byte
        const kept = clean(changed)
        if (kept) expect(clean(kept)).toEqual(kept)
      }),
    )
  })

  test('that would be shown too large is refused', () => {
    expect(clean(make({ width: 16_384, height: 4_096 }))).not.toBeNull()
    expect(clean(make({ width: 16_383, height: 4_200 }))).toBeNull()
    if (name !== 'webp') expect(clean(make({ width: 16_385, height: 1 }))).toBeNull()
    if (name !== 'webp') expect(clean(make({ width: 0, height: 1 }))).toBeNull()
  })
})

describe.each([
  ['jpeg', jpegOf],
  ['png', pngOf],
  ['webp', webpOf],
] as const)('a %s that is turned', (_name, make) => {
  test.each([2, 3, 6, 8])('stays turned (%i), and nothing else of its Exif stays', (orientation) => {
    const kept = clean(make({ orientation, about: [1] })) as Buffer
    expect(kept.includes(secret)).toBe(false)
    expect(kept.includes(tiffOf(orientation))).toBe(true)
  })

  test.each([0, 1, 9, 65_535])('by something else (%i) says nothing of it', (orientation) => {
    expect(clean(make({ orientation }))).toEqual(make())
  })
})

test('an animation keeps its frames, their times, and how often it is played', () => {
  for (const make of [gifOf, webpOf, pngOf]) {
    const plain = make({ frames: 3 })
    expect(clean(make({ frames: 3, about: [1, 4] }))).toEqual(plain)
    expect(clean(plain)).toEqual(plain)
  }
})

test('a PNG whose sum is wrong, or which holds what a decoder must know and we do not, is refused', () => {
  const plain = pngOf()
  const other = Buffer.from(plain)
  other[20] = (other[20] ?? 0) ^ 1
  expect(clean(other)).toBeNull()
  const end = plain.subarray(-12)
  const critical = Buffer.from('\0\0\0\0CgBI\0\0\0\0', 'latin1')
  critical.writeUInt32BE(crc32(critical.subarray(4, 8)), 8)
  expect(clean(Buffer.concat([plain.subarray(0, -12), critical, end]))).toBeNull()
})

test.each([
  ['nothing', ''],
  ['text', 'hello'],
  ['HTML', '<html><script>alert(1)</script>'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ['a PDF', '%PDF-1.4'],
  ['the begin of a JPEG', '\xff\xd8\xff'],
  ['a GIF that is a script', 'GIF89a/*\0\0\0\0*/=1;alert(1)'],
  ['a RIFF of sound', 'RIFF\x24\0\0\0WAVEfmt '],
  ['a BMP', 'BM\x36\0\0\0'],
  ['an AVIF', '\0\0\0\x20ftypavif'],
])('%s is no picture', (_what, bytes) => expect(clean(Buffer.from(bytes, 'latin1'))).toBeNull())

test('any bytes behind the begin of a picture are refused, or one', () => {
  const begins = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF89a', 'RIFF\x40\0\0\0WEBPVP8X'].map((text) =>
    Buffer.from(text, 'latin1'),
  )
  fc.assert(
    fc.property(fc.constantFrom(...begins), fc.uint8Array({ maxLength: 300 }), (begin, rest) => {
      clean(Buffer.concat([begin, rest]))
    }),
    { numRuns: 2_000 },
  )
})
