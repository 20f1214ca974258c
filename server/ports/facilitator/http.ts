import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { Facilitator, PaymentRefusal, Proof, Requirement, Settlement } from './port.ts'

const maxBytes = 64 * 1024
/** A transaction takes a while to be in a block. */
const timeouts = { verify: 5_000, settle: 20_000 } as const

const Verified = z.object({ isValid: z.boolean(), invalidReason: z.string().nullish() })
const Settled = z.object({
  success: z.boolean(),
  transaction: z.string().nullish(),
  errorReason: z.string().nullish(),
})

/** A facilitator of either x402 version. Its refusals are mapped and never shown, as they may hold anything. */
export function httpFacilitator(url: string, version: 1 | 2): Facilitator {
  return {
    isSimulated: false,

    async verify(proof, requirement) {
      const { isValid, invalidReason } = await ask('verify', Verified, proof, requirement)
      return isValid ? null : refusalOf(invalidReason ?? '')
    },

    settle: async (proof, requirement) => settlementOf(await ask('settle', Settled, proof, requirement)),
  }

  /** A refusal may have any status; an answer of another form is an UPSTREAM_ERROR. */
  async function ask<Answer extends z.ZodType>(
    what: keyof typeof timeouts,
    schema: Answer,
    proof: Proof,
    requirement: Requirement,
  ): Promise<z.output<Answer>> {
    const body = JSON.stringify(bodies[version](proof, requirement))
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'plaza' }
    const bounds = { timeoutMilliseconds: timeouts[what], maxBytes }
    const { status, text } = await fetchText(
      `${url.replace(/\/$/, '')}/${what}`,
      { method: 'POST', headers, body },
      bounds,
    )
    const answer = schema.safeParse(status < 500 ? parsed(text) : null)
    if (!answer.success) throw new AppError('UPSTREAM_ERROR', { message: 'The payment facilitator gave no answer' })
    return answer.data
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What the two versions are asked with. */
const bodies = {
  1(payload: Proof, { chain: _, amount, network, ...requirement }: Requirement) {
    const exact = { scheme: 'exact', network }
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, ...exact, payload },
      paymentRequirements: { ...exact, maxAmountRequired: amount, ...requirement },
    }
  },
  2(payload: Proof, { chain: network, resource: url, description, mimeType, ...required }: Requirement) {
    const { amount, asset, payTo, maxTimeoutSeconds, extra } = required
    const accepted = { scheme: 'exact', network, amount, asset, payTo, maxTimeoutSeconds, extra }
    return {
      x402Version: 2,
      paymentPayload: { x402Version: 2, resource: { url, description, mimeType }, accepted, payload },
      paymentRequirements: accepted,
    }
  },
}

/** Reasons are compared whole, as a text with such a word may mean something unfinished. */
const refusals: readonly (readonly [reason: RegExp, PaymentRefusal])[] = [
  [
    /^((invalid_\w+_)?insufficient_(funds|balance)|(execution reverted: )?(\w+: )?transfer amount exceeds balance)$/,
    'funds',
  ],
  [/^((payment|authorization)_expired|invalid_\w+_(valid_before|expired))$/, 'expired'],
  [/^((invalid|unsupported)_network|invalid_\w+_network(_mismatch)?)$/, 'network'],
]
const knownRefusal = (reason: string) => refusals.find(([pattern]) => pattern.test(reason))?.[1] ?? null
const refusalOf = (reason: string): PaymentRefusal => knownRefusal(reason) ?? 'invalid'

const isUsed =
  /^((invalid_\w+_)?nonce_already_used|(execution reverted: )?(\w+: )?authorization is used( or canceled)?)$/
const isUnfit = /^(invalid|unsupported)_\w+$/
/** Called with a transaction that was, or may have been, sent. */
const isOfTransaction = /_(transaction_(simulation_)?failed|transfer_event_mismatch)$/
/** What is known before anything is sent. */
const isFinal = (reason: string) =>
  knownRefusal(reason) !== null || (isUnfit.test(reason) && !isOfTransaction.test(reason))
const isHash = (text: string): text is `0x${string}` => /^0x[0-9a-fA-F]{64}$/.test(text)

function settlementOf({ success, transaction, errorReason }: z.output<typeof Settled>): Settlement {
  const hash = transaction ?? ''
  const reason = errorReason ?? ''
  if (success) return isHash(hash) ? { state: 'settled', transaction: hash } : { state: 'unknown' }
  if (isUsed.test(reason)) return { state: 'used' }
  const isReverted = /^invalid_\w+_transaction_failed$/.test(reason) && isHash(hash)
  if (!isFinal(reason) && !isReverted) return { state: 'unknown' }
  const refused = refusalOf(reason)
  return { state: 'refused', reason: refused === 'invalid' ? 'failed' : refused }
}
