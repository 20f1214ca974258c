import type { Wallet } from '#client/sdk/types'

const guestKey = 'plaza.guest-key'
const guestAddress = 'plaza.guest-address'

export const isGuest = (address: string): boolean => localStorage.getItem(guestAddress) === address
export const hasGuestKey = (): boolean => localStorage.getItem(guestKey) !== null

/** A throw-away key that lives in this browser alone and signs like any wallet. */
export async function guestWallet(): Promise<Wallet> {
  const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
  const kept = localStorage.getItem(guestKey)
  const key = kept && isPrivateKey(kept) ? kept : generatePrivateKey()
  localStorage.setItem(guestKey, key)
  const account = privateKeyToAccount(key)
  localStorage.setItem(guestAddress, account.address.toLowerCase())
  return { address: account.address.toLowerCase(), signMessage: (message) => account.signMessage({ message }) }
}

const birds = [
  'Wren',
  'Heron',
  'Swift',
  'Finch',
  'Plover',
  'Robin',
  'Lark',
  'Martin',
  'Avocet',
  'Siskin',
  'Curlew',
  'Dunlin',
]

/** The same guest is called the same each time. */
export function guestName(address: string): string {
  const number = Number.parseInt(address.slice(-6), 16)
  return `Guest ${birds[number % birds.length]} ${(number % 90) + 10}`
}

const isPrivateKey = (value: string): value is `0x${string}` => /^0x[0-9a-f]{64}$/.test(value)
