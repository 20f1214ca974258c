import type { ErrorCode } from '#shared/errors'
import type { DeclaredType, FileKind, ReadAs } from './port.ts'

/** Requests to the process, one at a time. */
export type Question =
  | { as: ReadAs; document: Uint8Array | string; said: DeclaredType }
  | { kinds: readonly FileKind[]; file: Uint8Array<ArrayBuffer> }

/** Its answer: a result, or a refusal; null after a failure. */
export type Reply<Found> = { found: Found } | { refused: { code: ErrorCode; message: string } } | null
