import { AppError, type ErrorCode, errors } from '#shared/errors'
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
  INVALID_NONCE: 'The sign-in message was used already. Try again.',
  INVALID_DOMAIN: 'The wallet signed for another site than this one.',
  INVALID_CODE: 'This is not the code that was sent. Look again.',
  CODE_EXPIRED: 'This code is too old by now. Send another.',
  TOO_MANY_ATTEMPTS: 'That was wrong too often, so this code is no longer good. Send another.',
  INVALID_LINK: 'This link was used already, or is too old. Ask for another.',
  EMAIL_IN_USE: 'This address belongs to another account.',
  CHALLENGE_EXPIRED: 'That took too long. Try again.',
  PASSKEY_NOT_FOUND: 'This passkey is not known here. Use another, or make a new account.',
  PASSKEY_VERIFICATION_FAILED: 'The passkey could not be verified. Try again.',
  PASSKEY_ALREADY_REGISTERED: 'This passkey is in use already.',
  INVALID_AUTHENTICATOR: 'This device makes keys that cannot be used here. Try another.',
  UPSTREAM_ERROR: 'A service that is needed for this does not answer properly. Try again in a while.',
  TIMEOUT: 'A service that is needed for this took too long. Try again in a while.',
  FORBIDDEN: 'You are not allowed to do this.',
}

/** What went wrong, in words for the person in front of the page. */
export function problemText(error: unknown): string {
  if (error instanceof AppError) {
    if (error.code === 'RATE_LIMIT_EXCEEDED') {
      return `That was a lot at once. Try again in ${lengthOf(error.retryAfter ?? 5)}.`
    }
    if (error.code === 'SERVICE_UNAVAILABLE' && error.message !== errors.SERVICE_UNAVAILABLE[1]) return error.message
    if (error.code === 'FORBIDDEN' && error.message !== errors.FORBIDDEN[1]) return error.message
    return plain[error.code] ?? error.message
  }
  const device = deviceText(error)
  if (device !== null) return device
  if (isRejectedByWallet(error)) return 'The wallet said no. Nothing was signed.'
  if (error instanceof TypeError) return 'The server cannot be reached at the moment.'
  return error instanceof Error && error.message ? error.message : 'Something went wrong.'
}

/** What the device or the browser says to a request for a passkey. */
const deviceTexts: Record<string, string> = {
  NotAllowedError: 'The device did not answer, or you closed its window. Nothing was changed.',
  AbortError: 'The device did not answer, or you closed its window. Nothing was changed.',
  InvalidStateError: 'This device has a passkey for this account already.',
  NotSupportedError: 'This device cannot make such a passkey.',
  SecurityError: 'Passkeys of this site do not work at this address of it.',
}

const deviceText = (error: unknown): string | null =>
  error instanceof Error && error.name in deviceTexts ? (deviceTexts[error.name] ?? null) : null

const isRejectedByWallet = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 4001
