import { createAnswerCache } from '#server/kernel/store/kept-answers'
import type { Chain } from '#server/ports/chain/port'

const keptAtMost = 5_000

/** A cache of answers by chain and address. */
export function createChainCache<Answer>(ask: (chain: Chain, address: string) => Promise<Answer>, seconds: number) {
  const bounds = { secondsOf: () => seconds, weightOf: () => 0, mostWeight: keptAtMost }
  const chains = new WeakMap<Chain, ReturnType<typeof createAnswerCache<Answer>>>()
  const keptOf = (chain: Chain) => {
    const kept = chains.get(chain) ?? createAnswerCache<Answer>(bounds)
    chains.set(chain, kept)
    return kept
  }
  return {
    of: async (chain: Chain, address: string): Promise<Answer> =>
      (await keptOf(chain).of(address, () => ask(chain, address))).answer,
    forget: (chain: Chain, address: string): void => keptOf(chain).forget(address),
  }
}
