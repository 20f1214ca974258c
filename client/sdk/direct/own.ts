import type { Certificate } from '#shared/api/people/device-keys'
import type { Call } from '../calls.ts'
import type { Wallet } from '../types.ts'
import { randomBytes, toBase64Url } from './bytes.ts'
import { certify } from './certificate.ts'
import { newKeys, publicKeyOf } from './envelope.ts'
import type { Kept, KeyStore } from './store.ts'

export interface OwnOptions {
  call: Call
  store: KeyStore
  host: string
  now(): number
}

const made = async (store: KeyStore): Promise<Kept> => {
  const keys = await newKeys(store.extractable)
  const device_id = toBase64Url(randomBytes(16))
  return { device_id, keys, public_key: await publicKeyOf(keys), isTold: false, pins: {} }
}

/** The keys of this device for an account: what is kept, or new ones; the server knows them then. */
export async function ownDevice(
  { call, store, host, now }: OwnOptions,
  account: string,
  wallet: () => Promise<Wallet | null>,
): Promise<Kept> {
  const known = await store.change(account, () => undefined)
  const fresh = known ?? (await made(store))
  // Another tab may have been faster.
  const kept = known ?? (await store.change(account, (held) => held ?? fresh)) ?? fresh
  if (kept.isTold) return kept
  const signer = await wallet()
  const certificate = signer && (await certify({ ...kept, address: account }, host, now(), signer))
  await call('deviceKeys.put', told(kept, certificate))
  return (await store.change(account, (held) => held && { ...held, isTold: true })) ?? kept
}

const told = ({ device_id, public_key }: Kept, certificate: Certificate | null) => ({
  device_id,
  public_key,
  certificate,
  name: nameOfThis(),
})

/** Tells the server anew, with the signature of the account's own key. */
export async function vouchFor(
  { call, host, now }: OwnOptions,
  account: string,
  kept: Kept,
  wallet: Wallet,
): Promise<void> {
  await call('deviceKeys.put', told(kept, await certify({ ...kept, address: account }, host, now(), wallet)))
}

/** Forgets the keys of this device, and makes new ones; whom it trusts stays. */
export async function renewedDevice(
  options: OwnOptions,
  account: string,
  wallet: () => Promise<Wallet | null>,
): Promise<Kept> {
  const fresh = await made(options.store)
  await options.store.change(account, (held) => ({ ...fresh, pins: held?.pins ?? {} }))
  return ownDevice(options, account, wallet)
}

const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac', 'Linux']
const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari']
const proper: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }

/** The name of this device for its owner. Nobody else gets it. */
function nameOfThis(): string {
  if (typeof window === 'undefined') return 'A program'
  const { userAgent } = navigator
  const browser = browsers.find((name) => userAgent.includes(name)) ?? 'Browser'
  return `${proper[browser] ?? browser} on ${systems.find((name) => userAgent.includes(name)) ?? 'this device'}`
}
