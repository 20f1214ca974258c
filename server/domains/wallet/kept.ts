import type { Chain } from '#server/ports/chain/port'

const keptAtMost = 5_000

/** A cache of answers of a chain. Simultaneous calls for the same answer share one request; a failure is not kept. */
export function keepAnswers<Answer>(ask: (chain: Chain, address: string) => Promise<Answer>, seconds: number) {
  const chains = new WeakMap<Chain, Map<string, { answer: Promise<Answer>; until: number }>>()
  const keptOf = (chain: Chain) => {
    const kept = chains.get(chain) ?? new Map()
    chains.set(chain, kept)
    return kept
  }
  return {
    async of(chain: Chain, address: string): Promise<Answer> {
      const kept = keptOf(chain)
      const known = kept.get(address)
      if (known && known.until > performance.now()) return known.answer
      const entry = { answer: ask(chain, address), until: performance.now() + seconds * 1000 }
      kept.delete(address)
      kept.set(address, entry)
      for (const oldest of kept.keys()) {
        if (kept.size <= keptAtMost) break
        kept.delete(oldest)
      }
      entry.answer.catch(() => {
        if (kept.get(address) === entry) kept.delete(address)
      })
      return entry.answer
    },
    forget: (chain: Chain, address: string): void => void keptOf(chain).delete(address),
  }
}
