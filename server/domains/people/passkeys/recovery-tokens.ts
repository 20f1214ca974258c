import { createHash, randomInt, randomUUID } from 'node:crypto'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { AppError } from '#shared/errors'
import { type RecoveryToken, RecoveryTokens } from './model.ts'

export const recoverySeconds = 600
const keptMilliseconds = 3_600_000
/** Without characters that look alike. */
const alphabet = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const group = () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')

/** A token that adds one passkey within ten minutes, while the account has the address. */
export const issueRecoveryToken = (account: string, email: string, now: number): Promise<string> =>
  storeRecoveryToken(`${group()}-${group()}-${group()}`, account, { confirmed: true, email }, now)

/** A token that is invalid until the owner of the account's email confirms it. */
export const issueRescueToken = (account: string, now: number): Promise<string> =>
  storeRecoveryToken(randomUUID(), account, { confirmed: false }, now)

type Consent = Pick<RecoveryToken, 'confirmed' | 'email'>

async function storeRecoveryToken(token: string, account: string, consent: Consent, now: number): Promise<string> {
  const valid_until = new Date(now + recoverySeconds * 1000)
  const expires_at = new Date(now + keptMilliseconds)
  await RecoveryTokens.create({
    _id: hashOf(token),
    user_address: account,
    ...consent,
    used: false,
    valid_until,
    expires_at,
  })
  return token
}

/** In any case, with any separators. */
const hashOf = (token: string) =>
  createHash('sha256')
    .update(token.toUpperCase().replace(/[^A-Z0-9]/g, ''))
    .digest('hex')

const refused = () => new AppError('INVALID_PARAMETER', { message: 'This recovery token is unknown, used or expired' })

/** The account of a recovery token, which stays usable. */
export async function checkRecoveryToken(token: string, now: number): Promise<{ account: string; hash: string }> {
  const found = await RecoveryTokens.findOne({ _id: hashOf(token) }).lean<RecoveryToken>()
  if (!found || found.used || found.valid_until.getTime() <= now) throw refused()
  if (!found.confirmed) throw new AppError('FORBIDDEN', { message: 'Confirm your e-mail address first' })
  if ((await accountOf(found.user_address))?.email !== found.email) throw refused()
  return { account: found.user_address, hash: found._id }
}

export const isTokenOf = (hash: string, token: string): boolean => hashOf(token) === hash

/** Uses a token up. Of simultaneous calls exactly one succeeds. */
export async function spendRecoveryToken(hash: string, now: number): Promise<void> {
  const taken = await RecoveryTokens.findOneAndUpdate(
    { _id: hash, used: false, confirmed: true, valid_until: { $gt: new Date(now) } },
    { $set: { used: true } },
  ).lean<RecoveryToken>()
  if (!taken || (await accountOf(taken.user_address))?.email !== taken.email) throw refused()
}

/** Confirms a rescue token of this account. */
export async function confirmRescueToken(token: string, account: string, email: string): Promise<void> {
  await RecoveryTokens.updateOne({ _id: hashOf(token), user_address: account }, { $set: { confirmed: true, email } })
}
