// Modes: embedded
import { getAddress, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { tokensOf } from '#server/domains/rooms/tokens/gate'
import { fakeChain } from '#server/ports/chain/fake'
import { fakePrices } from '#server/ports/prices/fake'
import { wallet as contract } from '#shared/api/people/wallet'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const base = 8453
const unnamed = 31337
const usdc = getAddress(tokensOf(base).find(({ symbol }) => symbol === 'USDC')?.address ?? '')
const away = fakeChain(10)
away.away = 'UPSTREAM_ERROR'

describe('chains that can be asked, beside one that cannot', () => {
  const chain = fakeChain(base)
  const other = fakeChain(unnamed)
  let server: Booted
  beforeAll(async () => {
    const chains = new Map([chain, other, away].map((one) => [one.id, one]))
    const environment = { ADMINS: wallet('admin of wallets').address }
    server = await boot({ environment, services: { chains, prices: fakePrices() } })
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

  describe('O65: the call that adds a recovery signer, checked on a chain', () => {
    const recoveryAddress = wallet('friend').address
    const plan = async (who: Person, more: object = {}) =>
      outcomeOf(await who.tries('rest', contract.planRecoverySigner, { recoveryAddress, chainId: base, ...more }))
    const owned = async (change: { owners?: `0x${string}`[]; threshold?: number } = {}) => {
      const who = await somebody()
      const safe = await smartAddress(who)
      chain.deploy(safe, { owners: [getAddress(who.account)], threshold: 1, ...change })
      return { who, safe }
    }

    test('is refused where the smart account is not deployed, and planned where no chain is named', async () => {
      const who = await somebody()
      expect(await plan(who)).toBe('400 SAFE_NOT_DEPLOYED')
      expect(await plan(who, { chainId: undefined })).toBe('200')
    })

    test('is refused where nobody can pay for it, and planned once either can', async () => {
      const [byItself, byItsOwner] = [await owned(), await owned()]
      for (const { who } of [byItself, byItsOwner]) expect(await plan(who)).toBe('400 INSUFFICIENT_BALANCE')
      chain.transfer({ to: byItself.safe, value: parseEther('1') })
      chain.transfer({ to: getAddress(byItsOwner.who.account), value: parseEther('1') })
      for (const { who } of [byItself, byItsOwner]) expect(await plan(who)).toBe('200')
    })

    test.each([
      ['the address is a signer already', { owners: [recoveryAddress], threshold: 1 }],
      ['the first signer is none any more', { owners: [wallet('heir').address] }],
      ['two have to sign', { threshold: 2 }],
    ])('is refused where %s', async (_why, change) => {
      const { who, safe } = await owned(change)
      chain.transfer({ to: safe, value: parseEther('1') })
      expect(await plan(who)).toBe('400 TRANSACTION_FAILED')
    })

    test('is refused where the chain cannot be asked', async () => {
      const who = await somebody()
      expect(await plan(who, { chainId: away.id })).toBe('502 UPSTREAM_ERROR')
      away.away = 'TIMEOUT'
      expect(await plan(who, { chainId: away.id })).toBe('504 TIMEOUT')
      away.away = 'UPSTREAM_ERROR'
      expect(await plan(who, { chainId: 424_242 })).toBe('400 CHAIN_NOT_SUPPORTED')
      expect(await plan(who, { chainId: 56 })).toBe('503 SERVICE_UNAVAILABLE')
    })
  })

  describe('for admins', () => {
    const read = async (who: Person, address: string) => who.does('rest', contract.ofUser, { address })
    let admin: Person
    beforeAll(async () => {
      admin = await person(server, 'admin of wallets')
    })

    test('the smart account of somebody is told on every chain, and nothing is stored by that', async () => {
      const who = await somebody()
      const before = await Accounts.findOne({ _id: who.account }).lean()
      const told = await read(admin, who.account)
      expect(await Accounts.findOne({ _id: who.account }).lean()).toEqual(before)
      expect(told).toMatchObject({
        userAddress: who.account,
        deployedCount: 0,
        totalBalanceUsd: 0,
        chainsWithBalance: 0,
      })
      expect(told.smartWalletAddress).toBe(await smartAddress(who))
      expect(told.totalChains).toBe(told.chains.length)
      const of = (id: number) => told.chains.find(({ chainId }) => chainId === id)
      expect(of(base)).toMatchObject({
        chainName: 'Base',
        symbol: 'ETH',
        isDeployed: false,
        balance: '0',
        balanceUsd: 0,
      })
      expect(of(base)).toMatchObject({ sponsored: false })
      const unknown = { isDeployed: null, balance: null, balanceUsd: null }
      expect(of(10)).toMatchObject({ ...unknown, error: expect.any(String) })
      expect(of(1)).toMatchObject(unknown)
    })

    test('what it holds is worth what its coin costs, where that is known, with its stablecoins', async () => {
      const who = await somebody()
      const address = await smartAddress(who)
      for (const one of [chain, other]) one.deploy(address)
      for (const one of [chain, other]) one.transfer({ to: address, value: parseEther('0.5') })
      chain.transfer({ to: address, value: 2_500_000n, token: usdc })
      const { chains, ...sums } = await read(admin, who.account)
      expect(sums).toMatchObject({ deployedCount: 2, totalBalanceUsd: 1_002.5, chainsWithBalance: 2 })
      expect(
        chains.filter(({ balance }) => balance === '0.5').map(({ chainId, balanceUsd }) => [chainId, balanceUsd]),
      ).toEqual([
        [base, 1_002.5],
        [unnamed, null],
      ])
    })

    test('who has no smart account yet has none on any chain', async () => {
      const who = await somebody()
      await Accounts.updateOne({ _id: who.account }, { $set: { wallet_type: 'email' } })
      const told = await read(admin, who.account)
      expect([told.smartWalletAddress, told.deployedCount, told.chainsWithBalance]).toEqual([null, 0, 0])
      expect(told.chains.every(({ isDeployed, balance }) => isDeployed === null && balance === null)).toBe(true)
    })

    test('nobody else asks, and nobody is found who is not there', async () => {
      const who = await somebody()
      expect(await who.refused('rest', contract.ofUser, { address: who.account })).toMatchObject({ code: 'FORBIDDEN' })
      const { address } = wallet('never came')
      expect(await admin.refused('rest', contract.ofUser, { address })).toMatchObject({ code: 'USER_NOT_FOUND' })
      expect(await admin.rest('GET /api/admin/user-wallets')).toMatchObject({
        status: 400,
        body: { error: 'Address required' },
      })
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
