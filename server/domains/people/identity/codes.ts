import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { AppError, type ErrorCode } from '#shared/errors'
import { type OneTimeCode, OneTimeCodes } from './model.ts'
import { tokenHashOf } from './tokens.ts'

export const codeSeconds = 600
export const linkSeconds = 900
const keptSeconds = 3_600
const mostTries = 5

export type CodeRefusal = 'unknown' | 'wrong' | 'expired' | 'used up'
type TakenCode = { taken: true; detail: string | null } | { taken: false; why: CodeRefusal }

/**
 * A new six-digit code for this subject; the previous one becomes invalid. `detail` is returned when the code is used.
 */
export async function issueCode(
  node: Node,
  purpose: string,
  subject: string,
  detail: string | null = null,
): Promise<{ code: string; expiresAt: number }> {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const id = idOf(purpose, subject)
  const [secret] = secretsOf(node)
  const expiresAt = await storeCode(
    node,
    id,
    { code_hash: macOf(secret, id, code).toString('hex'), detail },
    codeSeconds,
  )
  return { code, expiresAt }
}

/**
 * Uses a code up. Each attempt counts before its code is compared, so at most five are compared, even in parallel. Of
 * simultaneous correct attempts exactly one succeeds.
 */
export async function takeCode(node: Node, purpose: string, subject: string, code: string): Promise<TakenCode> {
  const id = idOf(purpose, subject)
  const counted = await OneTimeCodes.findOneAndUpdate(
    { _id: id, tries: { $lt: mostTries }, expires_at: { $gt: new Date(node.now()) } },
    { $inc: { tries: 1 } },
    { returnDocument: 'after' },
  ).lean<OneTimeCode>()
  if (!counted) return { taken: false, why: await whyNot(node, id) }
  const expected = Buffer.from(counted.code_hash, 'hex')
  const isRight = secretsOf(node).some((secret) => timingSafeEqual(macOf(secret, id, code), expected))
  if (!isRight) return { taken: false, why: 'wrong' }
  const { deletedCount } = await OneTimeCodes.deleteOne({ _id: id, code_hash: counted.code_hash })
  return deletedCount === 1 ? { taken: true, detail: counted.detail } : { taken: false, why: 'unknown' }
}

export async function deleteCode(purpose: string, subject: string): Promise<void> {
  await OneTimeCodes.deleteOne({ _id: idOf(purpose, subject) })
}

const refusals: Record<CodeRefusal, ErrorCode> = {
  unknown: 'INVALID_CODE',
  wrong: 'INVALID_CODE',
  expired: 'CODE_EXPIRED',
  'used up': 'TOO_MANY_ATTEMPTS',
}

/** As `takeCode`; returns the detail, or throws INVALID_CODE, CODE_EXPIRED or TOO_MANY_ATTEMPTS. */
export async function requireCode(node: Node, purpose: string, subject: string, code: string): Promise<string | null> {
  const result = await takeCode(node, purpose, subject, code)
  if (!result.taken) throw new AppError(refusals[result.why])
  return result.detail
}

/** A token for a link, valid once. Only its hash is stored, with the hash of the requesting browser. */
export async function issueLink(node: Node, purpose: string, subject: string, browser: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const code_hash = tokenHashOf(token)
  await storeCode(
    node,
    idOf(purpose, code_hash),
    { code_hash, detail: subject, browser: tokenHashOf(browser) },
    linkSeconds,
  )
  return token
}

/**
 * The subject of a link, and whether this browser requested it. Null if it is unknown, used or expired. It stays
 * usable.
 */
export async function readLink(node: Node, purpose: string, token: string, browser: string | null) {
  const found = await OneTimeCodes.findOne({
    _id: idOf(purpose, tokenHashOf(token)),
    expires_at: { $gt: new Date(node.now()) },
  }).lean<OneTimeCode>()
  if (!found || found.detail === null) return null
  return { subject: found.detail, isAsker: browser !== null && found.browser === tokenHashOf(browser) }
}

/** Uses a link up, and returns its subject; null if it is unknown, used or expired. */
export async function takeLink(node: Node, purpose: string, token: string): Promise<string | null> {
  const taken = await OneTimeCodes.findOneAndDelete({
    _id: idOf(purpose, tokenHashOf(token)),
    expires_at: { $gt: new Date(node.now()) },
  }).lean<OneTimeCode>()
  return taken?.detail ?? null
}

async function storeCode(
  node: Node,
  id: string,
  what: Pick<OneTimeCode, 'code_hash' | 'detail' | 'browser'>,
  seconds: number,
) {
  const expiresAt = node.now() + seconds * 1000
  const times = { expires_at: new Date(expiresAt), kept_until: new Date(expiresAt + keptSeconds * 1000) }
  await OneTimeCodes.updateOne({ _id: id }, { $set: { ...what, ...times, tries: 0 } }, { upsert: true })
  return expiresAt
}

async function whyNot(node: Node, id: string): Promise<CodeRefusal> {
  const found = await OneTimeCodes.findOne({ _id: id }).lean<OneTimeCode>()
  if (!found) return 'unknown'
  return found.expires_at.getTime() <= node.now() ? 'expired' : 'used up'
}

const idOf = (purpose: string, subject: string) => `${purpose} ${subject}`

/** Our keys, newest first. */
export function secretsOf({ settings }: Node): [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = settings.sessionKeys.map(({ secret }) => secret)
  if (!newest) throw new Error('There is no session key')
  return [newest, ...older]
}

const macOf = (secret: Uint8Array, id: string, code: string): Buffer =>
  createHmac('sha256', secret).update(`code\0${id}\0${code}`).digest()
