import { AppError, type ErrorCode, type ErrorExtras, errors } from '#shared/errors'

const isKnown = (code: unknown): code is ErrorCode => typeof code === 'string' && code in errors

/** The error that a server answered, over REST or the socket. */
export function toldError(code: unknown, extras: ErrorExtras): AppError {
  return new AppError(isKnown(code) ? code : 'INTERNAL_ERROR', extras)
}

/** No answer arrived: the operation may have happened, or not. */
export const noAnswer = (cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', { message: 'The server did not answer', details: { answered: false }, cause })

export const wasNotAnswered = (error: unknown): boolean =>
  error instanceof AppError && error.details?.answered === false

export const asAppError = (error: unknown): AppError => (error instanceof AppError ? error : noAnswer(error))

const passing: readonly ErrorCode[] = ['SERVICE_UNAVAILABLE', 'RATE_LIMIT_EXCEEDED', 'TIMEOUT', 'DATABASE_ERROR']

/** True if the same request may succeed later. */
export const isPassing = ({ code }: AppError): boolean => passing.includes(code)

const sessionCodes: readonly ErrorCode[] = ['UNAUTHORIZED', 'SESSION_EXPIRED', 'SESSION_INVALID', 'SESSION_NOT_FOUND']
export const isAboutSession = (code: unknown): boolean => isKnown(code) && sessionCodes.includes(code)
