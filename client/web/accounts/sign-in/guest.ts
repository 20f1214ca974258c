import type { Wallet } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'

interface Sealed {
  key: CryptoKey
  iv: Uint8Array<ArrayBuffer>
  bytes: ArrayBuffer
}

const store = 'secrets'
const cipher = 'AES-GCM'

/**
 * A secret of this browser, stored encrypted by a key that no script can export: a copy of the storage is of no use
 * elsewhere. Null where there is none, or where the browser has no storage.
 */
async function keptSecret(name: string): Promise<string | null> {
  try {
    const sealed = await within<Sealed | undefined>('readonly', (secrets) => secrets.get(name))
    if (!sealed) return null
    return new TextDecoder().decode(
      await crypto.subtle.decrypt({ name: cipher, iv: sealed.iv }, sealed.key, sealed.bytes),
    )
  } catch {
    return null
  }
}

/** Without storage in the browser, the secret lasts until the page is closed. */
async function keepSecret(name: string, secret: string): Promise<void> {
  try {
    const key = await crypto.subtle.generateKey({ name: cipher, length: 256 }, false, ['encrypt', 'decrypt'])
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const bytes = await crypto.subtle.encrypt({ name: cipher, iv }, key, new TextEncoder().encode(secret))
    await within('readwrite', (secrets) => secrets.put({ key, iv, bytes } satisfies Sealed, name))
  } catch {
    return
  }
}

async function within<Result>(mode: IDBTransactionMode, ask: (secrets: IDBObjectStore) => IDBRequest): Promise<Result> {
  const database = await opened()
  try {
    return await new Promise<Result>((resolve, reject) => {
      const transaction = database.transaction(store, mode)
      const request = ask(transaction.objectStore(store))
      transaction.oncomplete = () => resolve(request.result as Result)
      transaction.onabort = () => reject(transaction.error)
    })
  } finally {
    database.close()
  }
}

const opened = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('plaza', 1)
    request.onupgradeneeded = () => request.result.createObjectStore(store)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

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
