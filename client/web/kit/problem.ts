import { AppError, type ErrorCode } from '#shared/errors'
import { lengthOf } from './format.ts'

const plain: Partial<Record<ErrorCode, string>> = {
  SERVICE_UNAVAILABLE: 'The server cannot be reached at the moment.',
  INTERNAL_ERROR: 'The server had trouble with this. Try again in a moment.',
  DATABASE_ERROR: 'The server had trouble with this. Try again in a moment.',
  UNAUTHORIZED: 'Sign in to do this.',
  SESSION_EXPIRED: 'Your session has ended. Sign in again.',
  SESSION_INVALID: 'Your session has ended. Sign in again.',
  SESSION_NOT_FOUND: 'Your session has ended. Sign in again.',
  INVALID_SIGNATURE: 'The signature does not fit this wallet. Try again.',
  NONCE_EXPIRED: 'That took too long: the sign-in message has expired. Try again.',
  CHAIN_NOT_SUPPORTED: 'The wallet is on a network this server does not accept.',
  FORBIDDEN: 'You are not allowed to do this.',
}

/** What went wrong, in words for the person in front of the page. */
export function problemText(error: unknown): string {
  if (error instanceof AppError) {
    if (error.code === 'RATE_LIMIT_EXCEEDED') {
      return `That was a lot at once. Try again in ${lengthOf(error.retryAfter ?? 5)}.`
    }
    return plain[error.code] ?? error.message
  }
  if (isRejectedByWallet(error)) return 'The wallet said no. Nothing was signed.'
  if (error instanceof TypeError) return 'The server cannot be reached at the moment.'
  return error instanceof Error && error.message ? error.message : 'Something went wrong.'
}

const isRejectedByWallet = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 4001
