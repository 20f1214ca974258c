import { type Hex, maxUint256 } from 'viem'
import { z } from 'zod'
import type { Proof, Requirement } from '#server/ports/facilitator/port'
import type { NetworkFacts } from '#shared/api/payments/payment-networks'
import type { PaymentOffer } from './scheme.ts'

/** A proof with the network that it names, which may be unknown. */
export interface OfferedProof extends Proof {
  network: string
  /** The repeated offer of version 2. */
  accepted?: z.output<typeof Accepted>
}

const longestHeader = 8 * 1024

const isUnits = (digits: string) => /^(0|[1-9]\d{0,77})$/.test(digits) && BigInt(digits) <= maxUint256
const Units = z.union([z.string(), z.int().nonnegative().transform(String)]).refine(isUnits)
const hex = (pattern: RegExp) =>
  z
    .string()
    .regex(pattern)
    .transform((value) => value.toLowerCase() as Hex)
const AddressOnChain = hex(/^0x[0-9a-fA-F]{40}$/)
const Nonce = hex(/^0x[0-9a-fA-F]{64}$/)
/** The signature of a contract wallet has any length. */
const Signature = hex(/^0x([0-9a-fA-F]{2}){64,4096}$/)

const times = { validAfter: Units, validBefore: Units, nonce: Nonce }
const Payload = z.object({
  signature: Signature,
  authorization: z.object({ from: AddressOnChain, to: AddressOnChain, value: Units, ...times }),
})
const Network = z.string().min(1).max(64)
const scheme = z.literal('exact')

/** The offer entry that is paid, as far as it is repeated. */
const Accepted = z.object({
  scheme,
  network: Network,
  amount: Units.optional(),
  asset: AddressOnChain.optional(),
  payTo: AddressOnChain.optional(),
  extra: z.object({ name: z.string().optional(), version: z.string().optional() }).optional(),
})

const First = z
  .object({ x402Version: z.literal(1), scheme, network: Network, payload: Payload })
  .transform(({ network, payload }): OfferedProof => ({ network, ...payload }))

const Second = z
  .object({ x402Version: z.literal(2), accepted: Accepted, payload: Payload })
  .transform(({ accepted, payload }): OfferedProof => ({ network: accepted.network, accepted, ...payload }))

/** All fields on one level. */
const Flat = z
  .object({
    x402Version: z.literal(1).optional(),
    scheme: scheme.optional(),
    network: Network,
    from: AddressOnChain,
    to: AddressOnChain.optional(),
    recipient: AddressOnChain.optional(),
    amount: Units.optional(),
    value: Units.optional(),
    signature: Signature,
    ...times,
  })
  .transform(({ network, from, to, recipient, amount, value, signature, ...rest }, context): OfferedProof => {
    const payee = to ?? recipient
    const paid = amount ?? value
    if (payee === undefined || paid === undefined || (recipient ?? payee) !== payee || (value ?? paid) !== paid) {
      context.addIssue('One recipient and one amount')
      return z.NEVER
    }
    const { validAfter, validBefore, nonce } = rest
    return { network, signature, authorization: { from, to: payee, value: paid, validAfter, validBefore, nonce } }
  })

/** Reads a payment header: an envelope or bare fields, as JSON or base64. Null for anything else. */
export function readProof(header: string): OfferedProof | null {
  if (header.length > longestHeader) return null
  const given = jsonIn(header.trim())
  // A value with a payload is an envelope; nothing beside it is read.
  const isEnvelope = typeof given === 'object' && given !== null && Object.hasOwn(given, 'payload')
  const read = (isEnvelope ? z.union([First, Second]) : Flat).safeParse(given)
  return read.success ? read.data : null
}

function jsonIn(text: string): unknown {
  try {
    if (text.startsWith('{')) return JSON.parse(text)
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64')))
  } catch {
    return null
  }
}

/** How long a payment is to be valid. */
export const maxTimeoutSeconds = 300
const mimeType = 'application/json'

const chainName = ({ chainId }: NetworkFacts) => `eip155:${chainId}` as const

export const requirementOf = ({ facts, ...rest }: PaymentOffer): Requirement => ({
  ...rest,
  network: facts.network,
  chain: chainName(facts),
  asset: facts.asset,
  mimeType,
  maxTimeoutSeconds,
  extra: { name: facts.name, version: facts.version },
})

/** The entry of the documents and of protocol version 1, in one. */
const entryOf = ({ chain: _, ...requirement }: Requirement) => ({
  ...requirement,
  token: requirement.asset,
  recipient: requirement.payTo,
  scheme: 'exact',
  maxAmountRequired: requirement.amount,
})

/** The body of a 402: `paymentRequirements` for clients of the documents, the rest for the protocol. */
export function paymentRequired(requirement: Requirement) {
  const accepts = [entryOf(requirement)]
  return { paymentRequirements: { x402Version: 1, accepts }, x402Version: 1, accepts }
}

/** The same in headers: JSON, and base64 for protocol version 2. */
export function requiredHeaders(requirement: Requirement, error: string): Record<string, string> {
  const { paymentRequirements } = paymentRequired(requirement)
  const { chain, asset, amount, payTo, resource: url, description, extra } = requirement
  const second = {
    x402Version: 2,
    error,
    resource: { url, description, mimeType },
    accepts: [{ scheme: 'exact', network: chain, amount, asset, payTo, maxTimeoutSeconds, extra }],
  }
  return { 'X-Payment-Required': asciiJson(paymentRequirements), 'PAYMENT-REQUIRED': base64Json(second) }
}

/** The settlement in headers, for both versions. */
export function settledHeaders(
  facts: NetworkFacts,
  { payer, transaction }: { payer: string; transaction: string | null },
): Record<string, string> {
  const settled = { success: true, transaction: transaction ?? '', payer }
  return {
    'X-PAYMENT-RESPONSE': base64Json({ ...settled, network: facts.network }),
    'PAYMENT-RESPONSE': base64Json({ ...settled, network: chainName(facts) }),
  }
}

const base64Json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

/** Headers hold ASCII alone. */
const asciiJson = (value: object) =>
  JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
