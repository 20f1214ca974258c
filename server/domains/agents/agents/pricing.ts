import { isHex } from 'viem'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { facilitatorOf, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { isWalletAccount, smartAccountIn } from '#server/domains/people/accounts/smart-account'
import type { Node } from '#server/kernel/context'
import { networks, priceText, unitsOf } from '#shared/api/payments/payment-networks'

/** The endpoints of an agent: public ones, or those for signed-in accounts. */
export function endpointsOf(
  { settings: { publicUrl } }: Pick<Node, 'settings'>,
  { _id }: StoredAgent,
  isPublic = true,
) {
  const info = `${publicUrl}/api/${isPublic ? 'public/' : ''}agents/${_id}`
  return { info, chat: `${info}/chat` }
}

/** The offer of an answer; null if the agent is not sold or nobody can be paid. */
export async function agentOfferOf(node: Pick<Node, 'settings'>, agent: StoredAgent): Promise<PaymentOffer | null> {
  const { x402_enabled, x402_price_cents: cents, x402_network: network } = agent
  if (!x402_enabled || cents === null || network === null) return null
  const payTo = await payeeOf(agent)
  if (payTo === null) return null
  const resource = endpointsOf(node, agent).chat
  return { facts: networks[network], amount: unitsOf(cents), payTo, resource, description: descriptionOf(agent, cents) }
}

const descriptionOf = ({ name }: StoredAgent, cents: number) => `One answer of ${name} for ${priceText(cents)}`

/** The named wallet, or the owner's; for a passkey its smart account, as its account id has no key. */
async function payeeOf({
  x402_wallet_address: named,
  owner_address,
}: StoredAgent): Promise<PaymentOffer['payTo'] | null> {
  if (named !== null && isHex(named)) return named
  const owner = await Accounts.findOne({ _id: owner_address }).lean<Account>()
  if (!owner) return null
  if (isWalletAccount(owner) && isHex(owner._id)) return owner._id
  return smartAccountIn(owner)?.address ?? null
}

export function pricingOf(node: Pick<Node, 'services'>, cents: number, { facts, payTo }: PaymentOffer) {
  const facilitator = facilitatorOf(node, facts)
  return {
    pricePerMessage: priceText(cents),
    priceCents: cents,
    network: facts.network,
    currency: 'USDC' as const,
    payTo,
    payable: facilitator !== null,
    simulated: facilitator?.isSimulated ?? false,
  }
}

/** The price as clients see it; `enabled` if there is one. */
export async function renderPricing(node: Node, agent: StoredAgent, isPublic = true) {
  const wanted = isPublic ? await agentOfferOf(node, agent) : null
  return { enabled: wanted !== null, ...(wanted && pricingOf(node, agent.x402_price_cents ?? 0, wanted)) }
}
