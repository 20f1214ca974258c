import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeOnramp } from '#server/ports/onramp/fake'
import { httpOnramp } from '#server/ports/onramp/http'
import { openOnrampProvider } from '#test/support/providers'

const expires_at = '2040-01-01T00:00:00Z'
let provider: Awaited<ReturnType<typeof openOnrampProvider>>
beforeAll(async () => {
  provider = await openOnrampProvider({ token: 'good once', expires_at }, { key: 'a key' })
})
afterAll(() => provider.close())

const fake = fakeOnramp()
const subjects = {
  'the fake': {
    open: () => fake,
    last: () => fake.asked.at(-1),
    fail(how: typeof fake.away) {
      fake.away = how
    },
  },
  'a provider over HTTP': {
    open: () => httpOnramp(provider.url, 'a key'),
    last() {
      const [{ address, blockchains: chains }] = (
        provider.asked.at(-1) as { addresses: [{ address: string; blockchains: string[] }] }
      ).addresses
      return { address, chains }
    },
    fail(how: typeof fake.away) {
      provider.mood = how === null ? 'well' : how === 'TIMEOUT' ? 'silent' : 'failing'
    },
  },
}

describe.each(Object.entries(subjects))('the port of an onramp, by %s', (_name, { open, last, fail }) => {
  test('opens the purchase of an address on chains', async () => {
    const { token, expiresAt } = await open().open('0x12', ['base', 'ethereum'])
    expect(token).toMatch(/./)
    expect(expiresAt).toEqual(new Date(expires_at))
    expect(last()).toEqual({ address: '0x12', chains: ['base', 'ethereum'] })
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'throws %s where there is no answer, and opens again after',
    async (how) => {
      fail(how)
      await expect(open().open('0x12', [])).rejects.toMatchObject({ code: how })
      fail(null)
      expect((await open().open('0x12', [])).token).toMatch(/./)
    },
  )
})

describe('the provider over HTTP', () => {
  test.each(['junk', 'endless', 'elsewhere'] as const)('that is %s opens nothing', async (mood) => {
    provider.mood = mood
    await expect(httpOnramp(provider.url, 'a key').open('0x12', [])).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    provider.mood = 'well'
  })

  test('that refuses the key opens nothing, and is not repeated', async () => {
    const refusal = await httpOnramp(provider.url, 'another key')
      .open('0x12', [])
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(String((refusal as Error).message)).not.toContain('secret')
  })
})
