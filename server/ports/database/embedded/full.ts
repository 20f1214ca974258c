import { statfsSync } from 'node:fs'

const FULL_BYTES = 1_048_576

/** lmdb tells a full disk as an error of input and output, so that the disk is asked. */
export function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < FULL_BYTES
  } catch {
    return false
  }
}

export const fullDisk = (what: string, cause?: unknown): Error =>
  Object.assign(new Error(`${what}: the disk is full (ENOSPC)`, { cause }), { code: 'ENOSPC' })
