import { maxUint256 } from 'viem'
import { z } from 'zod'
import type { Proof } from '#server/ports/facilitator/port'

type Hex = `0x${string}`

/** A proof, and the network that it names, which may be none of ours. */
export interface OfferedProof extends Proof {
  network: string
  /** What version 2 says that it pays for. */
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
/** That of a contract wallet is as long as it wants. */
const Signature = hex(/^0x([0-9a-fA-F]{2}){64,4096}$/)

const times = { validAfter: Units, validBefore: Units, nonce: Nonce }
const Payload = z.object({
  signature: Signature,
  authorization: z.object({ from: AddressOnChain, to: AddressOnChain, value: Units, ...times }),
})
const Network = z.string().min(1).max(64)
const scheme = z.literal('exact')

/** The entry of the offer that is paid for, as far as it is repeated. */
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

/** All fields beside each other. */
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

/** Reads a payment header: the envelope of either version or its fields alone, as JSON or as base64 of it. Null where it is none of these. */
export function readProof(header: string): OfferedProof | null {
  if (header.length > longestHeader) return null
  const given = jsonIn(header.trim())
  // What has a payload is an envelope, so that nothing beside it is read.
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
