import { domainOf, networks, type PaymentNetwork, transferTypes } from '#shared/api/payments/payment-networks'

type Hex = `0x${string}`

/** What one answer costs. */
export interface Offer {
  network: PaymentNetwork
  /** In the smallest unit of the token. */
  amount: string
  payTo: Hex
  /** So long a signature is good for. */
  seconds: number
}

/** What an answer of 402 asks for; null where it asks for what this page cannot pay. */
export function offerIn(details: Readonly<Record<string, unknown>> | undefined): Offer | null {
  const [first] = Array.isArray(details?.accepts) ? (details.accepts as unknown[]) : []
  const { network, amount, payTo, asset, maxTimeoutSeconds: seconds } = (first ?? {}) as Record<string, unknown>
  if (!isNetwork(network) || asset !== networks[network].asset || typeof seconds !== 'number') return null
  if (!isHex(payTo) || payTo.length !== 42 || typeof amount !== 'string' || !/^\d{1,30}$/.test(amount)) return null
  return { network, amount, payTo, seconds }
}

/** Whether an answer of 202 says that nothing more is charged with its payment, whatever was before. */
export const isOverIn = (details: Readonly<Record<string, unknown>> | undefined): boolean =>
  (details?.payment as { is_over?: boolean } | undefined)?.is_over === true

const isNetwork = (name: unknown): name is PaymentNetwork => typeof name === 'string' && Object.hasOwn(networks, name)
const isHex = (text: unknown): text is Hex => typeof text === 'string' && /^0x[0-9a-fA-F]+$/.test(text)

/** `$0.05`, and of odd amounts as many places as they have. */
export function amountText(units: string): string {
  const digits = units.padStart(7, '0')
  const places = digits.slice(-6).replace(/0{1,4}$/, '')
  return `$${digits.slice(0, -6)}.${places}`
}

/** Clocks differ, so that a signature is good already for those that are behind. */
const leewaySeconds = 600

/** The transfer that pays for an offer, as a wallet is asked to sign it (EIP-712 over EIP-3009). */
export function transferFor({ network, amount: value, payTo: to, seconds }: Offer, from: Hex, now = Date.now()) {
  const at = Math.floor(now / 1000)
  const times = { validAfter: String(at - leewaySeconds), validBefore: String(at + seconds) }
  const authorization = { from, to, value, ...times, nonce: newNonce() }
  const data = { domain: domainOf(networks[network]), types: transferTypes, primaryType, message: authorization }
  return { authorization, data }
}
export type Transfer = ReturnType<typeof transferFor>['data']

const primaryType = 'TransferWithAuthorization' as const

const newNonce = (): Hex =>
  `0x${Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** The payment as it is sent: base64 of the envelope of version 1. */
export const envelopeOf = (
  network: PaymentNetwork,
  signature: string,
  authorization: ReturnType<typeof transferFor>['authorization'],
): string => btoa(JSON.stringify({ x402Version: 1, scheme: 'exact', network, payload: { signature, authorization } }))
