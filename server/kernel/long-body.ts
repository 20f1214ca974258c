import type { Request, Response } from 'express'
import { AppError } from '#shared/errors'

/** Refuses a body that says itself that it is too long, before any of it is read; the connection ends with the answer. */
export function refuseLong(
  request: Request,
  response: Response,
  mostBytes: number,
  refusal = new AppError('PAYLOAD_TOO_LARGE'),
): void {
  if (Number(request.get('content-length') ?? 0) <= mostBytes) return
  response.set('Connection', 'close')
  throw refusal
}
