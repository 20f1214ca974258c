import { AppError, type ErrorCode, errors } from '#shared/errors'
import { lengthOf } from './format.ts'

const plain: ProblemWords = {
  SERVICE_UNAVAILABLE: 'The server cannot be reached at the moment.',
  INTERNAL_ERROR: 'The server had trouble with this. Try again in a moment.',
  DATABASE_ERROR: 'The server had trouble with this. Try again in a moment.',
  UNAUTHORIZED: 'Sign in to do this.',
  SESSION_EXPIRED: 'Your session has ended. Sign in again.',
  SESSION_INVALID: 'Your session has ended. Sign in again.',
  SESSION_NOT_FOUND: 'Your session has ended. Sign in again.',
  REAUTHENTICATION_REQUIRED: 'This wants you to sign in once more. Nothing was changed.',
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
  PHONE_IN_USE: 'This number belongs to another account.',
  PHONE_CODE_EXPIRED: 'This code is too old by now. Send another.',
  CHALLENGE_EXPIRED: 'That took too long. Try again.',
  PASSKEY_NOT_FOUND: 'This passkey is not known here. Use another, or make a new account.',
  PASSKEY_VERIFICATION_FAILED: 'The passkey could not be verified. Try again.',
  PASSKEY_ALREADY_REGISTERED: 'This passkey is in use already.',
  INVALID_AUTHENTICATOR: 'This device makes keys that cannot be used here. Try another.',
  UPSTREAM_ERROR: 'A service that is needed for this does not answer properly. Try again in a while.',
  TIMEOUT: 'A service that is needed for this took too long. Try again in a while.',
  FORBIDDEN: 'You are not allowed to do this.',
}

export type ProblemWords = Partial<Record<ErrorCode, string>>

/** The text of an error for the user; `words` replaces it for codes to which the caller has a better text. */
export function problemText(error: unknown, words: ProblemWords = {}): string {
  if (error instanceof AppError) {
    const better = words[error.code]
    if (better !== undefined) return better
    const seconds = waitOf(error)
    if (seconds !== null) return `That was a lot at once. Try again in ${lengthOf(seconds)}.`
    if (error.code === 'SERVICE_UNAVAILABLE' && isExplained(error)) return error.message
    if (error.code === 'FORBIDDEN' && error.message !== errors.FORBIDDEN[1]) return error.message
    if (error.details?.why) return `${error.details.why}.`
    return plain[error.code] ?? error.message
  }
  const device = deviceText(error)
  if (device !== null) return device
  const wallet = walletText(error)
  if (wallet !== null) return wallet
  if (error instanceof TypeError) return 'The server cannot be reached at the moment.'
  return error instanceof Error && error.message ? error.message : 'Something went wrong.'
}

/** The seconds after which what was too much at once may be asked again; null of any other error. */
export const waitOf = (error: unknown): number | null =>
  error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED' ? (error.retryAfter ?? 5) : null

const isExplained = ({ message, details }: AppError): boolean =>
  message !== errors.SERVICE_UNAVAILABLE[1] && details?.answered !== false

/** Texts for the errors of the WebAuthn API. */
const deviceTexts: Record<string, string> = {
  NotAllowedError: 'The device did not answer, or you closed its window. Nothing was changed.',
  AbortError: 'The device did not answer, or you closed its window. Nothing was changed.',
  InvalidStateError: 'This device has a passkey for this account already.',
  NotSupportedError: 'This device cannot make such a passkey.',
  SecurityError: 'Passkeys of this site do not work at this address of it.',
}

const deviceText = (error: unknown): string | null =>
  error instanceof Error && error.name in deviceTexts ? (deviceTexts[error.name] ?? null) : null

/** Texts for the errors of a wallet, by the codes of EIP-1193 and JSON-RPC; the errors may be plain objects. */
const walletTexts: Record<number, string> = {
  4001: 'The wallet said no. Nothing was signed.',
  4100: 'The wallet does not let this site ask. Allow it there, then try again.',
  4200: 'This wallet cannot sign messages.',
  4900: 'The wallet is not connected. Open it, then try again.',
  4901: 'The wallet is not connected. Open it, then try again.',
  [-32002]: 'Your wallet has a question open already. Answer it there, then try again.',
  [-32603]: 'The wallet could not sign. Unlock it, then try again.',
}

const walletText = (error: unknown): string | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? (walletTexts[error.code] ?? null)
    : null
