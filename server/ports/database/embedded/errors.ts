import mongoose from 'mongoose'

/** A refusal of something outside the portable subset; nothing was read or written. */
export function refuse(what: string): never {
  throw new mongoose.mongo.MongoInvalidArgumentError(`The embedded store does not support ${what}`)
}

/** An error with the code and the shape that MongoDB gives it. */
export function serverError(code: number, errmsg: string, details: object = {}) {
  return new mongoose.mongo.MongoServerError({ index: 0, code, errmsg, ...details })
}

export const isServerError = (error: unknown): error is mongoose.mongo.MongoServerError =>
  error instanceof mongoose.mongo.MongoServerError

/** Options without a value are not given; any other that is not named is refused. */
export function checkOptions(method: string, options: object | null | undefined, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || value === null || value === false) continue
    if (!known.includes(name) && !HARMLESS.has(name)) refuse(`the option ${name} of ${method}`)
  }
}

/** Every write here is durable and every read is the latest, so these change nothing. */
const HARMLESS = new Set(
  'w j wtimeout writeConcern readConcern readPreference maxTimeMS comment batchSize allowDiskUse bypassDocumentValidation noCursorTimeout throwOnValidationError'.split(
    ' ',
  ),
)
