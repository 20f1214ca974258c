import { domainOf, networks, type PaymentNetwork, transferTypes } from '#shared/api/payments/payment-networks'
import { type EthereumWallet, type FoundWallet, useWallets } from '../accounts/sign-in/wallets.ts'
import { priceTexts as t } from '../texts/prices.ts'

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
function transferFor({ network, amount: value, payTo: to, seconds }: Offer, from: Hex, now = Date.now()) {
  const at = Math.floor(now / 1000)
  const times = { validAfter: String(at - leewaySeconds), validBefore: String(at + seconds) }
  const authorization = { from, to, value, ...times, nonce: newNonce() }
  const data = { domain: domainOf(networks[network]), types: transferTypes, primaryType, message: authorization }
  return { authorization, data }
}
type Transfer = ReturnType<typeof transferFor>['data']

const primaryType = 'TransferWithAuthorization' as const

const newNonce = (): Hex =>
  `0x${Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** The payment as it is sent: base64 of the envelope of version 1. */
const envelopeOf = (
  network: PaymentNetwork,
  signature: string,
  authorization: ReturnType<typeof transferFor>['authorization'],
): string => btoa(JSON.stringify({ x402Version: 1, scheme: 'exact', network, payload: { signature, authorization } }))

/** What may sign a payment. */
export interface Payer {
  id: string
  name: string
  /** Signs the transfer, and returns the payment as it is sent. */
  sign(offer: Offer): Promise<string>
}

/** The wallets of this browser that can pay for an offer; where nothing is settled, a test wallet as well. */
export function usePayers(offersTest: boolean): readonly Payer[] {
  const wallets = useWallets().flatMap((found) => (found.kind === 'ethereum' ? walletPayer(found) : []))
  return offersTest ? [...wallets, testPayer] : wallets
}

const walletPayer = ({ id, name, open }: Extract<FoundWallet, { kind: 'ethereum' }>): Payer => ({
  id,
  name,
  async sign(offer) {
    const wallet = await open()
    return signed(offer, wallet.address, (data) => typedBy(wallet, data))
  },
})

const word = (name: string, type: string) => ({ name, type })
const domainTypes = [
  word('name', 'string'),
  word('version', 'string'),
  word('chainId', 'uint256'),
  word('verifyingContract', 'address'),
]

const typedBy = (wallet: EthereumWallet, { types, ...data }: Transfer): Promise<string> =>
  wallet.signTypedData(data.domain.chainId, JSON.stringify({ ...data, types: { EIP712Domain: domainTypes, ...types } }))

async function signed(offer: Offer, address: string, sign: (data: Transfer) => Promise<string>): Promise<string> {
  const { authorization, data } = transferFor(offer, address as `0x${string}`)
  return envelopeOf(offer.network, await sign(data), authorization)
}

const testKey = 'plaza.test-wallet'

/** A key in local storage, which is worth nothing: what it signs is checked, and settled nowhere. */
const testPayer: Payer = {
  id: 'test',
  name: t.testWallet,
  async sign(offer) {
    if (networks[offer.network].isReal) throw new Error(t.testIsNotReal)
    const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
    const kept = localStorage.getItem(testKey)
    const key = kept && /^0x[0-9a-f]{64}$/.test(kept) ? (kept as `0x${string}`) : generatePrivateKey()
    localStorage.setItem(testKey, key)
    const account = privateKeyToAccount(key)
    return signed(offer, account.address, ({ message, ...data }) => {
      const { value, validAfter, validBefore, ...rest } = message
      const units = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
      return account.signTypedData({ ...data, message: { ...rest, ...units } })
    })
  },
}
