/** A picture without what is not shown: who took it, where, by which program, and whatever stands behind its end. */
export interface Picture {
  ending: 'jpg' | 'png' | 'gif' | 'webp'
  width: number
  height: number
  /** The bytes to keep, in order. */
  parts: readonly Buffer[]
}

/** These bytes are not what their format asks for. */
export class Unsound extends Error {}

export function need(isSound: boolean): asserts isSound {
  if (!isSound) throw new Unsound()
}

/** The next so many bytes, which must be there. */
export function slice(bytes: Buffer, start: number, length: number): Buffer {
  need(start + length <= bytes.length)
  return bytes.subarray(start, start + length)
}
