import type { Hex } from 'viem'
import type { Node } from '#server/kernel/context'
import type { Facilitator } from '#server/ports/facilitator/port'
import { type NetworkFacts, networks } from '#shared/api/payment-networks'

/** What one answer costs, and whom it is paid to. */
export interface Wanted {
  facts: NetworkFacts
  /** In the smallest unit. */
  amount: string
  payTo: Hex
  /** The address that is paid for. */
  resource: string
  description: string
}

const byName: ReadonlyMap<string, NetworkFacts> = new Map(
  Object.values(networks).flatMap((facts) => [
    [facts.network, facts],
    [`eip155:${facts.chainId}`, facts],
  ]),
)

/** A network by its name in either version of the protocol. */
export const networkNamed = (name: string): NetworkFacts | null => byName.get(name) ?? null

/** What carries out payments of a network; null where there is none: real money is never pretended. */
export const facilitatorOf = (
  { services: { facilitator } }: Pick<Node, 'services'>,
  { isReal }: NetworkFacts,
): Facilitator | null => (facilitator && !(isReal && facilitator.isSimulated) ? facilitator : null)
