// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { Accounts } from '#server/domains/people/accounts/model'
import { fakeOnramp } from '#server/ports/onramp/fake'
import { wallet as contract } from '#shared/api/people/wallet'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { openOnrampProvider } from '#test/support/providers'

const buyer = (server: Booted, name = 'one') => person(server, `buyer ${name}`)

describe('a purchase of coins', () => {
  const onramp = fakeOnramp()
  let server: Booted
  beforeAll(async () => {
    server = await boot({ services: { onramp } })
  })
  afterAll(() => server.close())

  test('is opened for the smart account, or for the wallet where that is named', async () => {
    const who = await buyer(server)
    expect(await who.does('rest', contract.onramp, {})).toEqual({
      sessionToken: 'purchase 1',
      expiresAt: '2040-01-01T00:00:00.000Z',
    })
    const { smartWalletAddress } = await who.does('rest', contract.smartWallet, {})
    expect(onramp.asked.at(-1)).toMatchObject({ address: smartWalletAddress })
    await who.does('rest', contract.onramp, { walletAddress: who.account })
    expect(onramp.asked.at(-1)).toMatchObject({ address: who.account })
  })

  test('is not opened for somebody else, nor for nobody', async () => {
    const [one, other] = [await buyer(server), await buyer(server, 'other')]
    const asked = onramp.asked.length
    expect(await one.refused('rest', contract.onramp, { walletAddress: other.account })).toMatchObject({
      ...{ status: 403, code: 'ACCESS_DENIED' },
    })
    await Accounts.updateOne({ _id: other.account }, { $set: { wallet_type: 'email' } })
    expect(await other.refused('rest', contract.onramp, {})).toMatchObject({ code: 'WALLET_NOT_FOUND' })
    await Accounts.deleteOne({ _id: other.account })
    expect(await other.refused('rest', contract.onramp, {})).toMatchObject({ code: 'USER_NOT_FOUND' })
    expect(onramp.asked.length).toBe(asked)
  })

  test.each([
    ['UPSTREAM_ERROR', 502],
    ['TIMEOUT', 504],
  ] as const)('fails with %s where the provider gives no answer', async (code, status) => {
    onramp.away = code
    const refusal = await (await buyer(server)).refused('rest', contract.onramp, {})
    expect(refusal).toMatchObject({ status, code })
    onramp.away = null
  })
})

test('a purchase is opened by the provider that is configured', async () => {
  const provider = await openOnrampProvider({ token: 'good once' }, { key: 'a key' })
  const server = await boot({ environment: { ONRAMP_URL: provider.url, ONRAMP_KEY: 'a key' }, nodes: 1 })
  expect(await (await buyer(server)).does('rest', contract.onramp, {})).toMatchObject({ sessionToken: 'good once' })
  await server.close()
  await provider.close()
})

test('a provider is configured whole or not at all', () => {
  const SESSION_KEYS = `test:${Buffer.alloc(32).toString('base64')}`
  expect(() => readConfig({ SESSION_KEYS, ONRAMP_URL: 'https://onramp.example' })).toThrow('ONRAMP_KEY')
  expect(() => readConfig({ SESSION_KEYS, ONRAMP_KEY: 'a key' })).toThrow('ONRAMP_URL')
})
