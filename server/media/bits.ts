/** Reads bits, and the numbers of variable length that video codecs write (Exp-Golomb). Throws beyond the end. */
export interface BitReader {
  bits(count: number): number
  flag(): boolean
  unsigned(): number
  signed(): number
}

export function bitReader(bytes: Uint8Array): BitReader {
  let at = 0
  const bit = (): number => {
    const byte = bytes[at >> 3]
    if (byte === undefined) throw new RangeError('The bits end early')
    return (byte >> (7 - (at++ & 7))) & 1
  }
  const bits = (count: number): number => {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 2 + bit()
    return value
  }
  const unsigned = (): number => {
    let zeros = 0
    while (bit() === 0) if (++zeros > 31) throw new RangeError('A number is too long')
    return 2 ** zeros - 1 + bits(zeros)
  }
  return {
    bits,
    flag: () => bit() === 1,
    unsigned,
    signed() {
      const value = unsigned()
      return value % 2 === 1 ? (value + 1) / 2 : -value / 2
    },
  }
}

export interface BitWriter {
  bits(value: number, count: number): void
  unsigned(value: number): void
  signed(value: number): void
  /** Zeros up to the next byte. */
  align(): void
  bytes(): number[]
}

export function bitWriter(): BitWriter {
  const bytes: number[] = []
  let used = 0
  const bit = (value: number): void => {
    if (used === 0) bytes.push(0)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | (value << (7 - used))
    used = (used + 1) & 7
  }
  const bits = (value: number, count: number): void => {
    for (let index = count - 1; index >= 0; index--) bit(Math.floor(value / 2 ** index) % 2)
  }
  const unsigned = (value: number): void => {
    const length = Math.floor(Math.log2(value + 1))
    bits(0, length)
    bits(value + 1, length + 1)
  }
  return {
    bits,
    unsigned,
    signed: (value) => unsigned(value > 0 ? 2 * value - 1 : -2 * value),
    align() {
      used = 0
    },
    bytes: () => bytes,
  }
}
