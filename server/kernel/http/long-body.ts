import type { Request, Response } from 'express'
import { AppError } from '#shared/errors'
import { onAnswerEnd } from './answer-end.ts'

/** Refuses a body by its declared length, before any of it is read; the connection ends with the answer. */
export function refuseLongBody(
  request: Request,
  response: Response,
  mostBytes: number,
  refusal = new AppError('PAYLOAD_TOO_LARGE'),
): void {
  if (Number(request.get('content-length') ?? 0) <= mostBytes) return
  response.set('Connection', 'close')
  throw refusal
}

/** The limits of reading the rest of a refused body. */
const restBytes = 64 * 1024 * 1024
const restMilliseconds = 20_000

/** Is this the last answer of a connection whose body is still arriving? */
export const isCutOff = (request: Request, response: Response): boolean =>
  response.get('Connection') === 'close' && response.socket !== null && !request.complete

/**
 * Answers, and reads on for a while. Closing a connection with unread bytes would discard the answer, and many clients
 * read only after they have sent everything.
 */
export function answerCutOff(request: Request, response: Response, body: object): void {
  const text = Buffer.from(JSON.stringify(body))
  const { socket } = request
  response.type('json').set('Content-Length', `${text.length}`).write(text)
  socket.end()
  const end = () => void socket.destroy()
  const late = setTimeout(end, restMilliseconds)
  onAnswerEnd(request, response, () => clearTimeout(late))
  const from = socket.bytesRead
  request.on('data', () => {
    if (socket.bytesRead - from > restBytes) end()
  })
  request.once('end', end).resume()
}
