import { keccak256, toHex } from 'viem'
import { digestOf } from '#server/domains/payments/payments/exact'
import { networks, type PaymentNetwork } from '#shared/api/payments/payment-networks'
import { call, type Wallet } from './wallet.ts'

let made = 0

interface Offer {
  to: string
  value?: string
  network?: PaymentNetwork
  /** Unix seconds; in ten minutes where none are given. */
  until?: number
  nonce?: `0x${string}`
}

/** The payment header that a wallet makes for a transfer, as base64 of the envelope of version 1. */
export async function paymentOf(payer: Wallet, { to, value = '50000', network = 'base-sepolia', ...more }: Offer) {
  const { until = Math.floor(Date.now() / 1_000) + 600, nonce = keccak256(toHex(`nonce ${process.pid} ${++made}`)) } =
    more
  const times = { validAfter: '0', validBefore: String(until) }
  const authorization = { from: payer.address, to: to as `0x${string}`, value, ...times, nonce }
  const signature = await payer.sign({ hash: digestOf({ authorization, signature: '0x' }, networks[network]) })
  const envelope = { x402Version: 1, scheme: 'exact', network, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(envelope)).toString('base64')
}

/** Asks a public agent; with a payment where one is given. */
export const askPublic = (url: string, agent: string, message: string, payment?: string, more = {}) =>
  call(
    url,
    `POST /api/public/agents/${agent}/chat`,
    { message, ...more },
    undefined,
    payment === undefined ? {} : { 'x-payment': payment },
  )
