// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakePrices } from '#server/ports/prices/fake'
import { fixedPrices } from '#server/ports/prices/fixed'
import { httpPrices } from '#server/ports/prices/http'
import type { Prices } from '#server/ports/prices/port'
import { type Booted, boot } from '#test/support/boot'
import { openProvider } from '#test/support/providers'
import { call } from '#test/support/wallet'

const source = fakePrices()
let server: Booted
let ahead = 0

describe('prices of coins', () => {
  beforeAll(async () => {
    server = await boot({ services: { prices: source } })
  })
  beforeEach(() => {
    source.away = null
    source.told = { ETH: 2_000, BNB: 500 }
    passMinutes(2)
  })
  afterAll(() => server.close())
  function passMinutes(minutes: number) {
    ahead += minutes * 60
    server.setAhead(ahead)
  }
  const read = async (query = '') =>
    (await call(server.url, `GET /api/prices${query}`)).body as { prices: object; timestamp: number }

  test('prices are told to anybody, by symbols in any case; what is not known is null', async () => {
    expect((await read()).prices).toEqual({ ETH: 2_000 })
    expect((await read('?symbols=eth,%20BNB,avax,DOGE')).prices).toEqual({
      ETH: 2_000,
      BNB: 500,
      AVAX: null,
      DOGE: null,
    })
  })

  test.each(['?symbols=', '?symbols=,', '?symbols=%20eth,', '?symbols=ETH,,%20ETH%20'])(
    'commas and spaces too many say nothing: %s',
    async (query) => {
      expect((await read(query)).prices).toEqual({ ETH: 2_000 })
    },
  )

  test.each([
    '?symbols=ETH;BNB',
    `?symbols=${'A'.repeat(11)}`,
    '?symbols=%3Cscript%3E',
    `?symbols=${Array(21)
      .fill('A')
      .map((a, at) => a + at)
      .join()}`,
  ])('symbols that are none are refused: %s', async (query) => {
    expect((await call(server.url, `GET /api/prices${query}`)).status).toBe(400)
  })

  test('the source is asked once a minute, however many ask', async () => {
    const before = source.asked
    const answers = await Promise.all(Array.from({ length: 20 }, () => read()))
    expect(new Set(answers.map(({ timestamp }) => timestamp)).size).toBe(1)
    passMinutes(0.9)
    source.told = { ETH: 1 }
    expect((await read()).prices).toEqual({ ETH: 2_000 })
    expect(source.asked).toBe(before + 1)
    passMinutes(0.2)
    expect((await read()).prices).toEqual({ ETH: 1 })
    expect(source.asked).toBe(before + 2)
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'while the source is away (%s) no old price is told, and it is not pressed',
    async (away) => {
      await read()
      source.away = away
      passMinutes(1.1)
      const before = source.asked
      expect((await read('?symbols=ETH,BNB')).prices).toEqual({ ETH: null, BNB: null })
      await read()
      expect(source.asked).toBe(before + 1)
      source.away = null
      passMinutes(0.2)
      expect((await read()).prices).toEqual({ ETH: 2_000 })
    },
  )
})

test('without a source it is not offered', async () => {
  const bare = await boot({ services: { prices: null } })
  const { status, code } = await call(bare.url, 'GET /api/prices')
  expect([status, code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  await bare.close()
})

describe('the port of prices', () => {
  const told = {
    ethereum: { usd: 2_000.5 },
    binancecoin: { usd: 500 },
    'matic-network': {},
    'avalanche-2': { usd: null },
  }
  const opened = () => openProvider(() => ({ status: 200, body: told }))

  test.each<[name: string, open: (url: string) => Prices]>([
    ['a source', (url) => httpPrices(`${url}/simple/price?key=a`)],
    ['the fixed one', () => fixedPrices],
    ['the fake', fakePrices],
  ])('tells dollars of coins that it knows: %s', async (_name, open) => {
    const provider = await opened()
    const prices = await open(provider.url).now()
    expect(prices.ETH).toBeGreaterThan(0)
    expect(Object.values(prices).every((usd) => usd > 0)).toBe(true)
    await provider.close()
  })

  test.each(['failing', 'junk', 'elsewhere', 'endless', 'lost'] as const)(
    'a source that is %s is away',
    async (mood) => {
      const provider = await opened()
      provider.mood = mood
      await expect(httpPrices(provider.url).now()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
      await provider.close()
    },
  )
})
