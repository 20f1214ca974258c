import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'
import { Answers } from './model.ts'

const keptMilliseconds = 24 * 60 * 60 * 1000

const idOf = (account: string, operation: string, key: string) => `${account} ${operation} ${key}`
const hashOf = (input: unknown) => createHash('sha256').update(JSON.stringify(input)).digest('base64url')

/** The first answer to this key; CONFLICT where the key was used with another input. */
export async function recallAnswer(account: string, operation: string, key: string, input: unknown) {
  const kept = await Answers.findOne({ _id: idOf(account, operation, key) }).lean()
  if (!kept) return null
  if (kept.input_hash !== hashOf(input))
    throw new AppError('CONFLICT', { message: 'This key was used for another request' })
  return { answer: kept.answer as unknown }
}

/** The first to finish is kept; a failure is never remembered. */
export async function rememberAnswer(account: string, operation: string, key: string, input: unknown, answer: unknown) {
  const entry = { input_hash: hashOf(input), answer, expires_at: new Date(Date.now() + keptMilliseconds) }
  await Answers.updateOne({ _id: idOf(account, operation, key) }, { $setOnInsert: entry }, { upsert: true })
}
