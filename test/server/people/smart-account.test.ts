// Modes: embedded
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeFunctionData, getAddress, type Hex, keccak256, parseAbi, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Accounts } from '#server/domains/people/accounts/model'
import { safeProfile } from '#server/domains/people/accounts/smart-account'
import { storePasskey } from '#server/domains/people/passkeys/passkeys'
import { tokensOf } from '#server/domains/rooms/tokens/gate'
import { wallet as contract } from '#shared/api/people/wallet'
import { type Booted, boot } from '#test/support/boot'
import { type LocalChain, noChain, startChain } from '#test/support/chain'
import { type Person, person } from '#test/support/people'
import { deploySafe, deploySafeContracts, noSafe, safeAbi, softPasskey, spend } from '#test/support/safe'
import { wallet } from '#test/support/wallet'

const base = 8453
const unnamed = 31337
const site = 'http://localhost:3000'
const Bytes = z.templateLiteral(['0x', z.string()])
const { contracts } = z
  .object({ contracts: z.object({ Token3009: z.object({ deployed: Bytes }) }) })
  .parse(JSON.parse(readFileSync('test/vectors/evm-test-contracts.json', 'utf8')))
const token = parseAbi(['function mint(address, uint256)'])

let made = 0

describe.skipIf(noChain)(`on a local chain${noChain ? ` (skipped: ${noChain})` : ''}`, () => {
  let chain: LocalChain
  let other: LocalChain
  let server: Booted
  const usdc = getAddress(tokensOf(base).find(({ symbol }) => symbol === 'USDC')?.address ?? '')

  beforeAll(async () => {
    ;[chain, other] = await Promise.all([startChain(base), startChain(unnamed)])
    server = await boot({
      environment: {
        [`RPC_URL_${base}`]: chain.url,
        [`RPC_URL_${unnamed}`]: other.url,
        RPC_URL_10: 'http://127.0.0.1:1/secret-key',
      },
    })
    for (const { address } of tokensOf(base))
      await chain.client.setCode({ address, bytecode: contracts.Token3009.deployed })
  })
  afterAll(async () => {
    await server?.close()
    await Promise.all([chain?.close(), other?.close()])
  })

  const somebody = () => person(server, `on chain ${++made}`)
  const mint = (to: Hex, value: bigint) =>
    chain.send({ to: usdc, data: encodeFunctionData({ abi: token, functionName: 'mint', args: [to, value] }) })
  const smartAddress = async (who: Person) =>
    getAddress(String((await who.does('rest', contract.smartWallet, {})).smartWalletAddress))

  describe('balances', () => {
    test('are told of every chain that can be asked, and of the others why not', async () => {
      const who = await somebody()
      const address = wallet('holder').address
      await chain.pay(address, '1.5')
      await mint(address, 2_500_000n)
      const { balances, totalUsd } = await who.does('rest', contract.balances, { address })
      const of = (id: number) => balances.find((one) => one.chain.id === id)
      expect(of(base)).toEqual({
        chain: expect.objectContaining({ id: base, name: 'Base', network: 'base', symbol: 'ETH' }),
        nativeBalance: expect.objectContaining({
          balance: String(parseEther('1.5')),
          balanceFormatted: '1.5',
          tokenType: 'native',
        }),
        tokens: [
          expect.objectContaining({
            contractAddress: usdc,
            symbol: 'USDC',
            balance: '2500000',
            balanceFormatted: '2.5',
            balanceUsd: 2.5,
            tokenType: 'erc20',
          }),
        ],
        totalUsd: 2.5,
        source: 'rpc',
      })
      expect(of(unnamed)).toMatchObject({ nativeBalance: { balance: '0' }, tokens: [], totalUsd: 0 })
      expect(of(10)).toMatchObject({
        nativeBalance: null,
        tokens: [],
        totalUsd: 0,
        error: expect.stringContaining('chain'),
      })
      expect(JSON.stringify(balances)).not.toContain('secret-key')
      expect(totalUsd).toBe(2.5)
    })
  })

  test('transactions are told newest first, with what was searched', async () => {
    const who = await somebody()
    const { address } = wallet('payee')
    const payer = wallet('payer').address
    await chain.pay(address, '0.25')
    await mint(address, 3_000_000n)
    await mint(address, 0n)
    await chain.pay(payer, '9')
    const { transactions, count, coverage } = await who.does('rest', contract.transactions, { address, chain: 'base' })
    expect(transactions).toMatchObject([
      { type: 'receive', tokenSymbol: 'USDC', valueFormatted: '3', valueUsd: 3, contractAddress: usdc, chainId: base },
      { type: 'receive', tokenSymbol: 'ETH', valueFormatted: '0.25', valueUsd: null, to: address },
    ])
    expect(count).toBe(2)
    for (const { timestamp, hash, explorerUrl } of transactions) {
      expect(Math.abs(Date.now() - timestamp)).toBeLessThan(3_600_000)
      expect(explorerUrl).toBe(`https://basescan.org/tx/${hash}`)
    }
    const head = Number(await chain.client.getBlockNumber({ cacheTime: 0 }))
    expect(coverage).toEqual([{ chainId: base, fromBlock: 0, nativeFromBlock: Math.max(0, head - 9), toBlock: head }])
    const sent = await who.does('rest', contract.transactions, { address: chain.funder, chain: String(base) })
    expect(sent.transactions[0]).toMatchObject({ type: 'send', tokenSymbol: 'ETH', valueFormatted: '9', to: payer })
  })

  describe.skipIf(noSafe)(`a Safe at the computed address${noSafe ? ` (skipped: ${noSafe})` : ''}`, () => {
    beforeAll(() => deploySafeContracts(chain))

    test('is what its wallet deploys there, and obeys that wallet', async () => {
      const who = await somebody()
      const owner = wallet(`on chain ${made}`)
      const address = await smartAddress(who)
      expect(await who.does('rest', contract.smartWallet, {})).toMatchObject({ isDeployed: false })
      await chain.pay(address, '1')
      await deploySafe(chain, owner.address)
      expect(await who.does('rest', contract.smartWallet, {})).toMatchObject({ isDeployed: true, canSign: true })
      await spend(chain, address, { to: wallet('heir').address, value: parseEther('0.4') }, (hash) =>
        owner.sign({ hash }),
      )
      expect(await chain.client.getBalance({ address })).toBe(parseEther('0.6'))
      const enabled = {
        address,
        abi: safeAbi,
        functionName: 'isModuleEnabled',
        args: [safeProfile.module4337],
      } as const
      expect(await chain.client.readContract(enabled)).toBe(true)
    })

    test('is what a passkey deploys there, and obeys that passkey alone', async () => {
      const who = await somebody()
      await Accounts.updateOne({ _id: who.account }, { $set: { wallet_type: 'email' } })
      const passkey = softPasskey(site)
      await keep(who, passkey)
      const address = await smartAddress(who)
      await chain.pay(address, '1')
      await deploySafe(chain, passkey)
      expect(await who.does('rest', contract.smartWallet, {})).toMatchObject({
        isDeployed: true,
        signerType: 'passkey',
      })
      const payment = { to: wallet('heir').address, value: parseEther('0.3') }
      await spend(chain, address, payment, passkey.sign)
      expect(await chain.client.getBalance({ address })).toBe(parseEther('0.7'))
      const refused = [softPasskey(site).sign, (hash: Hex) => passkey.sign(keccak256(hash))]
      for (const sign of refused) await expect(spend(chain, address, payment, sign)).rejects.toThrow()
      expect(await chain.client.getBalance({ address })).toBe(parseEther('0.7'))
      expect(await who.does('rest', contract.recoverySigner, {})).toMatchObject({
        ...{ isDeployed: true, isWalletUser: false, owners: [safeProfile.sharedSigner], threshold: 1 },
        ...{ primarySigner: safeProfile.sharedSigner, hasRecoverySigner: false, address: null },
      })
    })

    test('takes a recovery signer by the call that was planned', async () => {
      const who = await somebody()
      const owner = wallet(`on chain ${made}`)
      const address = await smartAddress(who)
      await deploySafe(chain, owner.address)
      const recoveryAddress = wallet('friend').address
      const { transaction } = await who.does('rest', contract.planRecoverySigner, { recoveryAddress })
      await spend(chain, address, { to: getAddress(transaction.to), data: Bytes.parse(transaction.data) }, (hash) =>
        owner.sign({ hash }),
      )
      expect(await who.does('rest', contract.recoverySigner, {})).toMatchObject({
        ...{
          primarySigner: owner.address,
          owners: expect.arrayContaining([owner.address, recoveryAddress]),
          threshold: 1,
        },
        ...{ hasRecoverySigner: true, recoverySigners: [recoveryAddress], address: recoveryAddress },
      })
      await chain.pay(address, '2')
      const { chains, summary } = await who.does('rest', contract.safeStatus, { address, primarySigner: owner.address })
      expect(chains.find(({ chainId }) => chainId === base)).toMatchObject({
        ...{ isDeployed: true, hasRecoverySigner: true, primarySigner: owner.address, deploymentEstimate: null },
      })
      expect(summary).toMatchObject({
        deployedChains: 1,
        chainsWithFunds: 1,
        chainsWithRecovery: 1,
        chainsNeedingRecovery: 0,
      })
      const { transactions } = await who.does('rest', contract.transactions, { address, chain: 'base' })
      expect(transactions).toMatchObject([{ type: 'receive', valueFormatted: '2' }])
    })
  })
})

test('a chain that is silent is given up on within its deadline', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const server = await boot({
    environment: { RPC_URL_8453: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` },
  })
  try {
    const who = await person(server, 'patient')
    const started = Date.now()
    const [{ balances }, refusal] = await Promise.all([
      who.does('rest', contract.balances, { address: who.account }),
      who.refused('rest', contract.recoverySigner, {}),
    ])
    expect(balances).toMatchObject([{ nativeBalance: null, error: expect.stringContaining('too long') }])
    expect(refusal).toMatchObject({ status: 504, code: 'TIMEOUT' })
    expect(Date.now() - started).toBeLessThan(8_000)
  } finally {
    await server.close()
    silent.close()
    silent.closeAllConnections()
  }
})

async function keep(who: Person, { x, y }: { x: Hex; y: Hex }): Promise<void> {
  const nothing = { display_name: null, transports: [], backed_up: false, last_used_at: null, user_agent: '' }
  await storePasskey({
    ...{ _id: `kept ${++made}`, user_address: who.account, credential_id: `kept-${made}`, ...nothing },
    ...{
      public_key_x: x,
      public_key_y: y,
      rp_id: 'localhost',
      counter: 0,
      user_handle: 'h',
      aaguid: '0',
      created_at: new Date(),
    },
  })
}
