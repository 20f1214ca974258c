import { defineDomain } from '#server/kernel/domain'
import { prices as contract } from '#shared/api/payments/prices'
import { currentPrices } from './now.ts'

export const prices = defineDomain(contract, {
  async read({ symbols }, { node }) {
    const { prices, at } = await currentPrices(node)
    return { prices: Object.fromEntries(symbols.map((symbol) => [symbol, prices[symbol] ?? null])), timestamp: at }
  },
})
