import type { ErrorRequestHandler, RequestHandler } from 'express'
import { AppError } from '#shared/errors'
import { type ErrorBody, expandRoute } from '#shared/kit/contract'
import type { Bound } from './context.ts'
import { spellingsOf } from './http-input.ts'

/** A known path with another method is 405, everything else 404. */
export const unknownRoute = (bound: readonly Bound[]): RequestHandler => {
  const paths = bound.flatMap(({ operation }) => spellingsOf(operation).flatMap(({ route }) => expandRoute(route)))
  const known = paths.map(({ path }) => new RegExp(`^${path.replace(/:[a-zA-Z_]+/g, '[^/]+')}/?$`, 'i'))
  return (request) => {
    throw new AppError(known.some((path) => path.test(request.path)) ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND')
  }
}

const parserErrors: Record<string, AppError> = {
  'entity.too.large': new AppError('PAYLOAD_TOO_LARGE'),
  'encoding.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
  'charset.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
}

/** Errors of express and its parser, in our words. */
function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { type, status, statusCode } = (error ?? {}) as { type?: string; status?: number; statusCode?: number }
  const known = parserErrors[type ?? '']
  if (known) return known
  const code = status ?? statusCode ?? 500
  if (code >= 400 && code < 500) return new AppError('VALIDATION_ERROR', { message: 'The request could not be read' })
  return new AppError('INTERNAL_ERROR', { cause: error })
}

export const answerError: ErrorRequestHandler = (thrown, _request, response, _next) => {
  const error = asAppError(thrown)
  if (response.headersSent) return void response.destroy()
  if (error.retryAfter !== undefined) response.setHeader('Retry-After', error.retryAfter)
  response.status(error.status).json(errorBody(error, response.locals.errorBody === 'text' ? 'text' : 'coded'))
}

export function errorBody({ code, message, retryAfter, verdict, details }: AppError, shape: ErrorBody): object {
  const extras = { ...(retryAfter === undefined ? {} : { retryAfter }), ...(verdict === undefined ? {} : { verdict }) }
  if (shape === 'text') return { ...details, error: message, code, ...extras }
  return { success: false, error: { code, message, ...extras, ...(details ? { details } : {}) } }
}
