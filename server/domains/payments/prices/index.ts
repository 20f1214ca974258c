import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Prices } from '#server/ports/prices/port'
import { prices as contract } from '#shared/api/payments/prices'
import { AppError } from '#shared/errors'

const keptMilliseconds = 60_000
/** A source without an answer rests for so long. */
const restMilliseconds = 10_000

interface KnownPrices {
  prices: Readonly<Record<string, number>>
  at: number
  until: number
}
const knownOn = nodeState(() => ({ answer: null as Promise<KnownPrices> | null, until: 0 }))

/** Loads prices once a minute; simultaneous callers share the answer. */
function currentPrices(node: Node): Promise<KnownPrices> {
  const source = node.services.prices
  if (!source) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No source of prices: PRICES_URL is not set' })
  const known = knownOn(node)
  if (known.answer && node.now() < known.until) return known.answer
  known.until = Number.POSITIVE_INFINITY
  known.answer = loadPrices(node, source).then((answer) => {
    known.until = answer.until
    return answer
  })
  return known.answer
}

/** Prices by symbol, in US dollars; empty without a source. */
export const knownPrices = async (node: Node): Promise<KnownPrices['prices']> =>
  node.services.prices ? (await currentPrices(node)).prices : {}

/** Without an answer no price is known: an old one would pass as current. */
async function loadPrices(node: Node, source: Prices): Promise<KnownPrices> {
  const at = node.now()
  try {
    return { prices: await source.now(), at, until: at + keptMilliseconds }
  } catch (error) {
    node.logger.warn({ error }, 'prices are not known')
    return { prices: {}, at, until: at + restMilliseconds }
  }
}

export const prices = defineDomain(contract, {
  async read({ symbols }, { node }) {
    const { prices, at } = await currentPrices(node)
    return { prices: Object.fromEntries(symbols.map((symbol) => [symbol, prices[symbol] ?? null])), timestamp: at }
  },
})
