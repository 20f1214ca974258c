import { type Hex, isHex } from 'viem'
import { accountOf } from '#server/domains/people/accounts/accounts'
import type { Account } from '#server/domains/people/accounts/model'
import { type Passkey, type SmartAccount, storeSmartAccount } from '#server/domains/people/accounts/smart-account'
import { firstPasskeyOf } from '#server/domains/people/passkeys/passkeys'
import { AppError } from '#shared/errors'

/** An account with its smart account; null while nothing can own one. */
export async function accountWithSmart(
  id: string,
  settle: (
    account: Account,
    passkey: Passkey | null,
  ) => Promise<SmartAccount | null> | SmartAccount | null = storeSmartAccount,
): Promise<{ account: Account; smart: SmartAccount | null }> {
  const account = await accountOf(id)
  if (!account) throw new AppError('USER_NOT_FOUND')
  const first = await firstPasskeyOf(id)
  const passkey = first && {
    credentialId: first.credential_id,
    x: hexOf(first.public_key_x),
    y: hexOf(first.public_key_y),
  }
  return { account, smart: await settle(account, passkey) }
}

export async function smartAccountOf(id: string): Promise<{ account: Account; smart: SmartAccount }> {
  const { account, smart } = await accountWithSmart(id)
  if (!smart) throw new AppError('WALLET_NOT_FOUND', { details: { needsWallet: true } })
  return { account, smart }
}

function hexOf(coordinate: string): Hex {
  if (isHex(coordinate) && coordinate.length === 66) return coordinate
  throw new Error('A stored passkey has no point')
}
