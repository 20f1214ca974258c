import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { Prices } from '#server/ports/prices/port'
import { AppError } from '#shared/errors'

const keptMilliseconds = 60_000
/** Whoever gave no answer is asked again after this. */
const restMilliseconds = 10_000

interface Known {
  prices: Readonly<Record<string, number>>
  at: number
  until: number
}
const knownOn = nodeState(() => ({ answer: null as Promise<Known> | null, until: 0 }))

/** Asks once a minute, whoever waits; all who come while it is asked share the answer. */
export function pricesNow(node: Node): Promise<Known> {
  const source = node.services.prices
  if (!source) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No source of prices: PRICES_URL is not set' })
  const known = knownOn(node)
  if (known.answer && node.now() < known.until) return known.answer
  known.until = Number.POSITIVE_INFINITY
  known.answer = ask(node, source).then((answer) => {
    known.until = answer.until
    return answer
  })
  return known.answer
}

/** The prices by symbols, in US dollars; none where there is no source. */
export const knownPrices = async (node: Node): Promise<Known['prices']> =>
  node.services.prices ? (await pricesNow(node)).prices : {}

/** While the source gives no answer nothing is known: an old price would pass for that of now. */
async function ask(node: Node, source: Prices): Promise<Known> {
  const at = node.now()
  try {
    return { prices: await source.now(), at, until: at + keptMilliseconds }
  } catch (error) {
    node.logger.warn({ error }, 'prices are not known')
    return { prices: {}, at, until: at + restMilliseconds }
  }
}
