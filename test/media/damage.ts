import fc from 'fast-check'
import { UnknownCodec } from '#server/media/rtmp'

/** The same inputs each time. */
export const rounds = { numRuns: 400, seed: 20_261_125 }

export interface Change {
  how: 'set' | 'cut' | 'repeat' | 'insert' | 'end'
  at: number
  length: number
  value: number
}

const value = fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xfe, 0xff), fc.nat(255))

/** What is done to bytes that were good. */
export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    how: fc.constantFrom('set', 'set', 'set', 'cut', 'repeat', 'insert', 'end' as const),
    at: fc.nat(0xffffff),
    length: fc.integer({ min: 1, max: 64 }),
    value,
  }),
  { minLength: 1, maxLength: 8 },
)

export const damaged = (bytes: Uint8Array, list: readonly Change[]): Buffer => list.reduce(change, Buffer.from(bytes))

function change(bytes: Buffer, { how, at, length, value }: Change): Buffer {
  const from = bytes.length === 0 ? 0 : at % bytes.length
  const [before, there, after] = [
    bytes.subarray(0, from),
    bytes.subarray(from, from + length),
    bytes.subarray(from + length),
  ]
  if (how === 'set') return Buffer.concat([before, Buffer.from([value]), bytes.subarray(from + 1)])
  if (how === 'cut') return Buffer.concat([before, after])
  if (how === 'repeat') return Buffer.concat([before, there, there, after])
  if (how === 'insert') return Buffer.concat([before, Buffer.alloc(length, value), there, after])
  return before
}

/** Whether it was taken. What is refused is refused as malformed, and never by a stack that ran over. */
export function isTaken(take: () => unknown): boolean {
  try {
    take()
    return true
  } catch (error) {
    const isRefusal = error instanceof RangeError && !/call stack/.test(error.message)
    if (isRefusal || error instanceof UnknownCodec) return false
    throw error
  }
}
