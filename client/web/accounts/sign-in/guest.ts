import type { Wallet } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { keepSecret, keptSecret } from './secrets.ts'

/** Where earlier versions stored the key; every script of the page can read it there. */
const formerKey = 'plaza.guest-key'
const guestAddress = 'plaza.guest-address'

export const isGuest = (address: string): boolean => isSameAccount(localStorage.getItem(guestAddress), address)
export const hasGuestKey = (): boolean => localStorage.getItem(guestAddress) !== null

/** A throw-away key that is stored in this browser alone and signs like any wallet. */
export async function guestWallet(): Promise<Wallet> {
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
  const former = localStorage.getItem(formerKey)
  const kept = await keptSecret('guest')
  const key = [kept, former].find(isPrivateKey) ?? generatePrivateKey()
  if (key !== kept) await keepSecret('guest', key)
  localStorage.removeItem(formerKey)
  const account = privateKeyToAccount(key)
  localStorage.setItem(guestAddress, account.address.toLowerCase())
  return { address: account.address.toLowerCase(), signMessage: (message) => account.signMessage({ message }) }
}

/** Moves a key that an earlier version stored to where no script can read it. Runs before the key is used. */
export async function hideFormerKey(): Promise<void> {
  if (localStorage.getItem(formerKey) !== null) await guestWallet()
}

const isPrivateKey = (value: string | null): value is `0x${string}` => value !== null && /^0x[0-9a-f]{64}$/.test(value)
