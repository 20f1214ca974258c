import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isOfDatabase, isUnavailable } from '#server/ports/database/port'
import { AppError } from '#shared/errors'

const deadlineMilliseconds = 2_500
const lookAgainMilliseconds = 250

/** Rejects while the database is away, but not within 2.5 s of `askedAt`. The work continues. */
export function whileStoreAnswers<T>(
  { isStoreAway }: { isStoreAway(): boolean },
  askedAt: number,
  work: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (isStoreAway()) reject(new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 }))
      else timer = setTimeout(look, lookAgainMilliseconds)
    }
    let timer = setTimeout(look, Math.max(0, askedAt + deadlineMilliseconds - performance.now()))
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The refusal for an error; null if the error is unexpected. */
export function refusalFrom(error: unknown): AppError | null {
  if (error instanceof AppError) return error
  if (isUnavailable(error)) return new AppError('SERVICE_UNAVAILABLE', { cause: error, retryAfter: 1 })
  return isOfDatabase(error) ? new AppError('DATABASE_ERROR', { cause: error }) : null
}

const pending = new WeakMap<ServerResponse | Socket, (() => void)[]>()

/** Calls back once, when the answer is finished or its connection has closed. */
export function onAnswerEnd({ socket }: IncomingMessage, answer: ServerResponse | Socket, callback: () => void): void {
  if (socket.destroyed) return void callback()
  const known = pending.get(answer)
  if (known) return void known.push(callback)
  const callbacks = [callback]
  pending.set(answer, callbacks)
  answer.once('close', () => {
    for (const over of callbacks) over()
  })
}
