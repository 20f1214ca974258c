import { generateNonce } from 'siwe'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Nonce, Nonces } from './model.ts'

export const nonceMilliseconds = 300_000
const keptMilliseconds = 900_000

export async function issueNonce(address: string, now: number): Promise<string> {
  const nonce = generateNonce()
  const issued_at = new Date(now)
  await Nonces.create({ _id: nonce, address, issued_at, used: false, expires_at: new Date(now + keptMilliseconds) })
  return nonce
}

/** The time of a nonce. Refuses one that this address may not use now; the nonce stays usable. */
export async function checkNonce(nonce: string, address: string, now: number): Promise<number> {
  const found = await Nonces.findOne({ _id: nonce }).lean<Nonce>()
  if (!found || found.used || !isSameAccount(found.address, address)) throw new AppError('INVALID_NONCE')
  if (now - found.issued_at.getTime() >= nonceMilliseconds) throw new AppError('NONCE_EXPIRED')
  return found.issued_at.getTime()
}

/** Uses a nonce up. Of simultaneous calls exactly one succeeds. */
export async function consumeNonce(nonce: string, address: string): Promise<void> {
  const taken = await Nonces.findOneAndUpdate({ _id: nonce, address, used: false }, { $set: { used: true } }).lean()
  if (!taken) throw new AppError('INVALID_NONCE')
}
