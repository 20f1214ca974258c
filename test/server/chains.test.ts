// Modes: embedded
import { getAddress, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokensOf } from '#server/domains/tokens/known'
import { fakeChain } from '#server/ports/chain/fake'
import { wallet as contract } from '#shared/api/wallet'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const base = 8453
const unnamed = 31337
const usdc = getAddress(tokensOf(base).find(({ symbol }) => symbol === 'USDC')?.address ?? '')
const away = fakeChain(10)
away.away = 'UPSTREAM_ERROR'

describe('chains that can be asked, beside one that cannot', () => {
  const chain = fakeChain(base)
  let server: Booted
  beforeAll(async () => {
    const chains = new Map([chain, fakeChain(unnamed), away].map((one) => [one.id, one]))
    server = await boot({ services: { chains } })
    chain.deploy(usdc)
  })
  afterAll(() => server.close())

  let made = 0
  const somebody = () => person(server, `on chains ${++made}`)
  const smartAddress = async (who: Person) =>
    getAddress(String((await who.does('rest', contract.smartWallet, {})).smartWalletAddress))

  describe('balances', () => {
    test('are kept for a while, and asked anew where that is wanted', async () => {
      const who = await somebody()
      const { address } = wallet('kept')
      const native = async (more: object = {}) =>
        (await who.does('rest', contract.balances, { address, chains: 'base', ...more })).balances[0]?.nativeBalance
          ?.balanceFormatted
      expect(await native()).toBe('0')
      chain.transfer({ to: address, value: parseEther('1') })
      expect(await native()).toBe('0')
      expect(await native({ refresh: true })).toBe('1')
      chain.transfer({ to: address, value: parseEther('1') })
      await who.does('rest', contract.refreshBalances, { address, chainId: 1 })
      expect(await native()).toBe('1')
      await who.does('rest', contract.refreshBalances, { address, chainId: base })
      expect(await native()).toBe('2')
    })

    test('of a chain without an endpoint say so beside the others', async () => {
      const who = await somebody()
      const { address } = wallet('kept')
      const { balances } = await who.does('rest', contract.balances, { address, chains: 'base, 56' })
      expect(balances.map(({ chain: { id }, error }) => [id, error ?? null])).toEqual([
        [base, null],
        [56, expect.stringContaining('RPC_URL_56')],
      ])
    })
  })

  test('transactions of a chain that fails are missing, and that is said', async () => {
    const { address } = wallet('payee')
    const { coverage } = await (await somebody()).does('rest', contract.transactions, { address })
    expect(coverage.map(({ chainId, error }) => [chainId, error !== undefined]).sort()).toEqual([
      [10, true],
      [unnamed, false],
      [base, false],
    ])
  })

  test('what is not deployed has no signers yet, and deploying it a price', async () => {
    const who = await somebody()
    const address = await smartAddress(who)
    const { chains, summary } = await who.does('rest', contract.safeStatus, { address })
    expect(chains.find(({ chainId }) => chainId === base)).toMatchObject({
      ...{ isDeployed: false, owners: [], threshold: 0, hasRecoverySigner: false, primarySigner: null },
      deploymentEstimate: { gasUnits: expect.any(Number), estimatedCostUsd: null, isSponsored: false },
      safeAppUrl: `https://app.safe.global/home?safe=base:${address}`,
    })
    expect(chains.find(({ chainId }) => chainId === 10)).toMatchObject({ error: expect.any(String) })
    expect(summary).toMatchObject({ totalChains: 3, deployedChains: 0, chainsWithFunds: 0, chainsNeedingRecovery: 0 })
    expect(await who.does('rest', contract.recoverySigner, {})).toMatchObject({
      ...{
        safeAddress: address,
        isDeployed: false,
        isWalletUser: true,
        owners: [],
        recoverySigners: [],
        address: null,
      },
    })
  })

  test('a contract that is no Safe has no owners', async () => {
    const { chains } = await (await somebody()).does('rest', contract.safeStatus, { address: usdc })
    expect(chains.find(({ chainId }) => chainId === base)).toMatchObject({ isDeployed: true, owners: [], threshold: 0 })
  })

  test('a chain that fails is named where nothing can be said without it', async () => {
    const who = await somebody()
    expect(await who.refused('rest', contract.recoverySigner, { chainId: 10 })).toMatchObject({
      status: 502,
      code: 'UPSTREAM_ERROR',
    })
    expect(await who.refused('rest', contract.recoverySigner, { chainId: 324 })).toMatchObject({
      code: 'CHAIN_NOT_SUPPORTED',
    })
    expect(await who.does('rest', contract.smartWallet, { chainId: 10 })).toMatchObject({
      isDeployed: false,
      warning: expect.any(String),
    })
  })
})

test('chains are asked anew only so often', async () => {
  const slow = await boot({
    services: { chains: new Map([[10, away]]) },
    environment: { RATE_LIMIT_SCALE: '0.1' },
    nodes: 1,
  })
  try {
    const who = await person(slow, 'eager')
    const input = { address: who.account, refresh: true }
    expect((await who.does('rest', contract.balances, input)).balances).toMatchObject([{ error: expect.any(String) }])
    const refusal = { status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 }
    expect(await who.refused('rest', contract.balances, input)).toMatchObject(refusal)
    expect(await who.does('rest', contract.balances, { address: who.account })).toMatchObject({ totalUsd: 0 })
  } finally {
    await slow.close()
  }
})
