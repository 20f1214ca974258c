import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { Accounts } from '#server/domains/accounts/model'
import { wallet as contract } from '#shared/api/wallet'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { openOnrampProvider } from '#test/support/providers'

const shop = { key: 'a key' }
const opened = { token: 'good once', expires_at: '2040-01-01T00:00:00Z' }
const buyer = (server: Booted, name = 'one') => person(server, `buyer ${name}`)

describe('a purchase of coins', () => {
  let provider: Awaited<ReturnType<typeof openOnrampProvider>>
  let server: Booted
  beforeAll(async () => {
    provider = await openOnrampProvider(opened, shop)
    server = await boot({ environment: { ONRAMP_URL: provider.url, ONRAMP_KEY: 'a key' } })
  })
  afterAll(async () => {
    await server.close()
    await provider.close()
  })

  test('is opened for the smart account, or for the wallet where that is named', async () => {
    const who = await buyer(server)
    expect(await who.does('rest', contract.onramp, {})).toEqual({
      sessionToken: 'good once',
      expiresAt: '2040-01-01T00:00:00.000Z',
    })
    const { smartWalletAddress } = await who.does('rest', contract.smartWallet, {})
    expect(provider.asked.at(-1)).toMatchObject({ addresses: [{ address: smartWalletAddress }] })
    await who.does('rest', contract.onramp, { walletAddress: who.account })
    expect(provider.asked.at(-1)).toMatchObject({ addresses: [{ address: who.account }] })
  })

  test('is not opened for somebody else, nor for nobody', async () => {
    const [one, other] = [await buyer(server), await buyer(server, 'other')]
    const asked = provider.asked.length
    expect(await one.refused('rest', contract.onramp, { walletAddress: other.account })).toMatchObject({ status: 403 })
    await Accounts.updateOne({ _id: other.account }, { $set: { wallet_type: 'email' } })
    expect(await other.refused('rest', contract.onramp, {})).toMatchObject({ code: 'WALLET_NOT_FOUND' })
    await Accounts.deleteOne({ _id: other.account })
    expect(await other.refused('rest', contract.onramp, {})).toMatchObject({ code: 'USER_NOT_FOUND' })
    expect(provider.asked.length).toBe(asked)
  })

  test.each(['failing', 'junk', 'endless', 'elsewhere'] as const)('fails where the provider is %s', async (mood) => {
    provider.mood = mood
    const refusal = await (await buyer(server)).refused('rest', contract.onramp, {})
    expect(refusal).toMatchObject({ status: 502, code: 'UPSTREAM_ERROR' })
  })

  test('fails where the provider is silent, in time', async () => {
    provider.mood = 'silent'
    const refusal = await (await buyer(server)).refused('rest', contract.onramp, {})
    expect(refusal).toMatchObject({ status: 504, code: 'TIMEOUT' })
  })

  test('fails where the key is not theirs, and repeats nothing of what they say', async () => {
    provider.mood = 'well'
    shop.key = 'another key'
    const refusal = await (await buyer(server)).refused('rest', contract.onramp, {})
    expect(refusal).toMatchObject({ status: 502, code: 'UPSTREAM_ERROR' })
    expect(JSON.stringify(refusal)).not.toContain('secret')
  })
})

test('a provider is configured whole or not at all', () => {
  const SESSION_KEYS = `test:${Buffer.alloc(32).toString('base64')}`
  expect(() => readConfig({ SESSION_KEYS, ONRAMP_URL: 'https://onramp.example' })).toThrow('ONRAMP_KEY')
  expect(() => readConfig({ SESSION_KEYS, ONRAMP_KEY: 'a key' })).toThrow('ONRAMP_URL')
})
