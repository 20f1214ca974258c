import { type Hex, isAddressEqual, isHex } from 'viem'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { isWalletAccount, smartAccountIn } from '#server/domains/people/accounts/smart-account'

export interface Wallet {
  label: string
  address: Hex
}

/** The addresses whose tokens count for an account: its wallet and its stored smart account. */
export async function walletsOf(id: string): Promise<Wallet[]> {
  const account = await accountOf(id)
  if (!account) return []
  const smart = smartAccountIn(account)
  const own = isWalletAccount(account) && isHex(account._id) ? [{ label: 'Wallet', address: account._id }] : []
  if (!smart || own.some(({ address }) => isAddressEqual(address, smart.address))) return own
  return [...own, { label: 'Smart account', address: smart.address.toLowerCase() as Hex }]
}
