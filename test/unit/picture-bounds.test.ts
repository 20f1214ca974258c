import { describe, expect, test } from 'vitest'
import { readPicture } from '#server/ports/reader/pictures/read'
import { heavy } from '#test/support/heavy'
import { ofManyPieces, pngOfSize, shownLarge } from '#test/support/picture-bombs'
import { gifOf, pngOf, webpOf } from '#test/support/pictures'

/** Ten times what the server is to be held at most. */
const ceilingMilliseconds = 2_000

describe('S1: of more pieces than any camera or editor makes', () => {
  test.each(Object.entries(ofManyPieces))('%s is refused, at once', (_what, make) => {
    const bytes = make()
    const begun = performance.now()
    expect(() => readPicture(bytes)).toThrow('A picture may be made of at most 16384 pieces')
    expect(performance.now() - begun).toBeLessThan(ceilingMilliseconds)
  })

  test.each(Object.entries(ofManyPieces))('%s of 100 kB is read', (_what, make) => {
    const bytes = make(48_000)
    expect(readPicture(bytes)?.bytes.length).toBeLessThanOrEqual(bytes.length)
  })

  test.each([
    ['a GIF', gifOf],
    ['a PNG', pngOf],
    ['a WebP', webpOf],
  ] as const)('%s of 5,000 frames is read', heavy, (_what, make) => {
    const film = make({ width: 10, height: 10, frames: 5_000 })
    expect(readPicture(film)?.bytes).toEqual(film)
  })
})

describe('S1: one piece of as many steps as fit is read at once', () => {
  const bytes = 10 * 1024 * 1024
  test.each([
    [
      'a GIF of blocks of one byte',
      Buffer.from('47494638396101000100800000000000ffffff2c000000000100010000', 'hex'),
      '02',
      '0101',
      '003b',
    ],
    [
      'a JPEG of stuffed bytes',
      Buffer.from('ffd8ffc0000b080001000101011100ffda0008010100003f00', 'hex'),
      '',
      'ff00',
      'ffd9',
    ],
    [
      'a JPEG of restarts',
      Buffer.from('ffd8ffc0000b080001000101011100ffda0008010100003f00', 'hex'),
      '',
      'ffd0',
      'ffd9',
    ],
  ])('%s', (_what, start, first, step, end) => {
    const picture = Buffer.concat([
      start,
      Buffer.from(first, 'hex'),
      Buffer.alloc(bytes, step, 'hex'),
      Buffer.from(end, 'hex'),
    ])
    const begun = performance.now()
    expect(readPicture(picture)?.bytes.equals(picture)).toBe(true)
    expect(performance.now() - begun).toBeLessThan(ceilingMilliseconds)
  })
})

describe('S5: a picture that says it is small, and is shown large', () => {
  test.each(Object.entries(shownLarge))('%s is refused', (_what, bytes) => {
    let kept: unknown = null
    try {
      kept = readPicture(bytes)
    } catch (error) {
      expect(String(error)).toContain('64 megapixels')
    }
    expect(kept).toBeNull()
  })

  test('more than 64 megapixels, or 16,384 on a side, are told from what is no picture', () => {
    const tooLarge = 'A picture may have at most 64 megapixels, and 16384 on a side'
    expect(() => readPicture(pngOfSize(12_000, 6_000))).toThrow(tooLarge)
    expect(() => readPicture(pngOfSize(16_385, 1))).toThrow(tooLarge)
    expect(readPicture(pngOfSize(16_384, 4_096))).not.toBeNull()
    expect(readPicture(pngOfSize(0, 4_096))).toBeNull()
  })
})
