import type { Certificate, DeviceKey } from '#shared/api/people/device-keys'
import { isSameAccount } from '#shared/kit/accounts'
import type { Wallet } from '../types.ts'

type Certified = Pick<DeviceKey, 'address' | 'device_id' | 'public_key'>
type Claimed = Certified & Pick<DeviceKey, 'certificate'>

/** `none`: nobody vouches for the device, or somebody does for another server. `invalid`: the signature is not the account's. */
export type Vouched = 'valid' | 'none' | 'invalid'

const isEthereum = (address: string) => /^0x[0-9a-f]{40}$/.test(address)
const isSolana = (address: string) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)

/** What the key of an account signs. */
export const certificateText = (
  { address, device_id, public_key }: Certified,
  { host, issued_at }: Pick<Certificate, 'host' | 'issued_at'>,
): string => ['Plaza device key v1', host, address, device_id, public_key, issued_at].join('\n')

/** Null where the account has no key that signs. */
export async function certify(
  device: Certified,
  host: string,
  now: number,
  wallet: Wallet,
): Promise<Certificate | null> {
  const scheme = isEthereum(device.address) ? 'eip191' : isSolana(device.address) ? 'ed25519' : null
  if (scheme === null || !isSameAccount(wallet.address, device.address)) return null
  const placed = { host, issued_at: new Date(now).toISOString() }
  return { scheme, ...placed, signature: await wallet.signMessage(certificateText(device, placed)) }
}

const verified = new Map<string, Promise<boolean>>()

/** Is the certificate of a device signed by its account, for this server? */
export async function verify(device: Claimed, host: string): Promise<Vouched> {
  const { certificate } = device
  if (certificate === null || certificate.host !== host) return 'none'
  const text = certificateText(device, certificate)
  const key = `${text}\n${certificate.scheme}\n${certificate.signature}`
  const known = verified.get(key) ?? isSigned(device.address, text, certificate).catch(() => false)
  verified.set(key, known)
  return (await known) ? 'valid' : 'invalid'
}

async function isSigned(address: string, message: string, { scheme, signature }: Certificate): Promise<boolean> {
  if (scheme === 'eip191') {
    if (!isEthereum(address)) return false
    const { recoverMessageAddress } = await import('viem')
    return isSameAccount(
      (await recoverMessageAddress({ message, signature: signature as `0x${string}` })).toLowerCase(),
      address,
    )
  }
  if (!isSolana(address)) return false
  const [{ ed25519 }, { base58 }] = await Promise.all([import('@noble/curves/ed25519.js'), import('@scure/base')])
  const signed = new TextEncoder().encode(message)
  return ed25519.verify(base58.decode(signature), signed, base58.decode(address), { zip215: false })
}
