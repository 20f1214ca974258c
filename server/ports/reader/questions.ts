import type { ErrorCode } from '#shared/errors'
import type { FileKind, ReadAs, Said } from './port.ts'

/** What the process is asked, one at a time. */
export type Question =
  | { as: ReadAs; document: Uint8Array | string; said: Said }
  | { kinds: readonly FileKind[]; file: Uint8Array<ArrayBuffer> }

/** What it says of that: what it has found, or why it refuses; null where it has failed. */
export type Reply<Found> = { found: Found } | { refused: { code: ErrorCode; message: string } } | null
