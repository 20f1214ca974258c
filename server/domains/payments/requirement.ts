import type { Wanted } from '#server/domains/receipts/networks'
import type { Requirement } from '#server/ports/facilitator/port'
import type { NetworkFacts } from '#shared/api/payment-networks'

/** So long a payment is to be good for. */
export const maxTimeoutSeconds = 300
const mimeType = 'application/json'

const chainName = ({ chainId }: NetworkFacts) => `eip155:${chainId}` as const

export const requirementOf = ({ facts, amount, payTo, resource, description }: Wanted): Requirement => ({
  network: facts.network,
  chain: chainName(facts),
  asset: facts.asset,
  amount,
  payTo,
  resource,
  description,
  mimeType,
  maxTimeoutSeconds,
  extra: { name: facts.name, version: facts.version },
})

/** The entry of the documents and that of the protocol's first version, in one. */
const entryOf = ({ network, asset, amount, payTo, resource, description, mimeType, extra }: Requirement) => ({
  network,
  token: asset,
  amount,
  recipient: payTo,
  scheme: 'exact',
  maxAmountRequired: amount,
  resource,
  description,
  mimeType,
  payTo,
  maxTimeoutSeconds,
  asset,
  extra,
})

/** What a 402 says of the payment, for clients of the documents, which look below `paymentRequirements`, and of the protocol. */
export function paymentRequired(requirement: Requirement) {
  const accepts = [entryOf(requirement)]
  return { paymentRequirements: { x402Version: 1, accepts }, x402Version: 1, accepts }
}

/** The same in headers: as JSON, and as base64 for clients of the protocol's second version. */
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

/** How a payment was settled, in headers, for clients of either version. */
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

/** A header holds no other characters. */
const asciiJson = (value: object) =>
  JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
