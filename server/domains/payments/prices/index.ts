import { defineDomain } from '#server/kernel/domain'
import { prices as contract } from '#shared/api/prices'
import { pricesNow } from './now.ts'

export const prices = defineDomain(contract, {
  async read({ symbols }, { node }) {
    const { prices, at } = await pricesNow(node)
    return { prices: Object.fromEntries(symbols.map((symbol) => [symbol, prices[symbol] ?? null])), timestamp: at }
  },
})
