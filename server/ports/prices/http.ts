import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { type Coin, coins, type Prices } from './port.ts'

const bounds = { timeoutMilliseconds: 5_000, maxBytes: 64 * 1024 }

/** What the source calls each coin. */
const ids: Record<Coin, string> = { ETH: 'ethereum', BNB: 'binancecoin', MATIC: 'matic-network', AVAX: 'avalanche-2' }
const Told = z.record(z.string(), z.object({ usd: z.number().positive().nullish() }))

/** A source that answers `{ ethereum: { usd: 2000 } }`, as `/simple/price` of CoinGecko and services like it do. */
export const httpPrices = (url: string): Prices => ({
  async now() {
    const asked = new URL(url)
    asked.searchParams.set('ids', Object.values(ids).join())
    asked.searchParams.set('vs_currencies', 'usd')
    const headers = { accept: 'application/json', 'user-agent': 'plaza' }
    const { status, text } = await fetchText(asked.href, { headers }, bounds)
    const told = Told.safeParse(status === 200 ? readJson(text) : null)
    if (!told.success) throw new AppError('UPSTREAM_ERROR', { message: `The source of prices answered ${status}` })
    return Object.fromEntries(
      coins.flatMap((coin) => {
        const usd = told.data[ids[coin]]?.usd
        return usd ? [[coin, usd]] : []
      }),
    )
  },
})

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
