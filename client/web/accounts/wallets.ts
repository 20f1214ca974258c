import type { Wallet } from '#client/sdk/types'

const guestKey = 'plaza.guest-key'
const guestAddress = 'plaza.guest-address'

interface Injected {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

const injected = (): Injected | undefined => (window as { ethereum?: Injected }).ethereum

export const hasInjectedWallet = (): boolean => injected() !== undefined
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

/** The wallet that an extension of the browser offers. */
export async function injectedWallet(): Promise<Wallet> {
  const provider = injected()
  if (!provider) throw new Error('There is no wallet in this browser.')
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const address = Array.isArray(accounts) ? String(accounts[0] ?? '') : ''
  if (!address) throw new Error('The wallet named no account.')
  return {
    address: address.toLowerCase(),
    signMessage: async (message) =>
      String(await provider.request({ method: 'personal_sign', params: [message, address] })),
  }
}

interface Solana {
  connect(): Promise<{ publicKey: { toString(): string } }>
  signMessage(message: Uint8Array): Promise<{ signature: Uint8Array }>
}

const solana = (): Solana | undefined => {
  const { phantom, solana: plain } = window as { phantom?: { solana?: Solana }; solana?: Solana }
  return phantom?.solana ?? plain
}

export const hasSolanaWallet = (): boolean => solana() !== undefined

/** The Solana wallet that an extension of the browser offers; its signatures are base58. */
export async function solanaWallet(): Promise<Wallet> {
  const provider = solana()
  if (!provider) throw new Error('There is no Solana wallet in this browser.')
  const [{ base58 }, { publicKey }] = await Promise.all([import('@scure/base'), provider.connect()])
  return {
    address: publicKey.toString(),
    signMessage: async (message) =>
      base58.encode((await provider.signMessage(new TextEncoder().encode(message))).signature),
  }
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
