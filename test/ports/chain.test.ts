import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeFunctionData, getAddress, type Hex, parseAbi, parseEther, verifyMessage, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { safeAddressOf } from '#server/domains/accounts/safe-address'
import { fakeChain } from '#server/ports/chain/fake'
import type { Chain } from '#server/ports/chain/port'
import { openChains } from '#server/ports/chain/viem'
import { type LocalChain, noChain, startChain } from '#test/support/chain'
import { deploySafe, deploySafeContracts, noSafe } from '#test/support/safe'
import { wallet } from '#test/support/wallet'

const id = 31337
const Bytes = z.templateLiteral(['0x', z.string()])
const { contracts } = z
  .object({
    contracts: z.object({ Token3009: z.object({ deployed: Bytes }), WalletFactory: z.object({ bytecode: Bytes }) }),
  })
  .parse(JSON.parse(readFileSync('test/vectors/evm-test-contracts.json', 'utf8')))
const abi = parseAbi([
  'function mint(address, uint256)',
  'function create(address owner, uint256 salt) returns (address)',
  'function predict(address owner, uint256 salt) view returns (address)',
])
const token = getAddress(`0x${'70'.repeat(20)}`)
const otherToken = getAddress(`0x${'71'.repeat(20)}`)

/** A chain, and how something comes to be on it. */
interface Subject {
  chain: Chain
  pay(to: Hex, value: bigint): Promise<unknown>
  mint(token: Hex, to: Hex, value: bigint): Promise<unknown>
  /** Deploys a contract that accepts what its owner signs; gives its address. */
  contractOf(owner: Hex): Promise<Hex>
  /** Deploys a Safe of one owner; gives its address. */
  safeOf(owner: Hex): Promise<Hex>
  close(): Promise<unknown>
}

async function openFake(): Promise<Subject> {
  const chain = fakeChain(id)
  for (const address of [token, otherToken]) chain.deploy(address)
  return {
    chain,
    pay: async (to, value) => chain.transfer({ to, value }),
    mint: async (of, to, value) => chain.transfer({ to, value, token: of }),
    async contractOf(owner) {
      const address = getAddress(`0x${'c0'.repeat(20)}`)
      chain.deploy(address, { accepts: (message, signature) => verifyMessage({ address: owner, message, signature }) })
      return address
    },
    async safeOf(owner) {
      const address = getAddress(`0x${'5a'.repeat(20)}`)
      chain.deploy(address, { owners: [owner], threshold: 1 })
      return address
    },
    close: async () => undefined,
  }
}

async function openLocal(): Promise<Subject> {
  const local: LocalChain = await startChain(id)
  for (const address of [token, otherToken])
    await local.client.setCode({ address, bytecode: contracts.Token3009.deployed })
  return {
    chain: at(local.url),
    pay: (to, value) => local.send({ to, value }),
    mint: (of, to, value) =>
      local.send({ to: of, data: encodeFunctionData({ abi, functionName: 'mint', args: [to, value] }) }),
    async contractOf(owner) {
      const address = await local.send({ data: contracts.WalletFactory.bytecode })
      const args = [owner, 1n] as const
      await local.send({ to: address, data: encodeFunctionData({ abi, functionName: 'create', args }) })
      return local.client.readContract({ address, abi, functionName: 'predict', args })
    },
    async safeOf(owner) {
      await deploySafeContracts(local)
      await deploySafe(local, owner)
      return getAddress(safeAddressOf(owner))
    },
    close: local.close,
  }
}

function at(url: string): Chain {
  const chain = openChains(new Map([[id, url]])).get(id)
  if (!chain) throw new Error('There is no chain')
  return chain
}

const subjects = [
  ['the fake', openFake, null],
  [`a local chain${noChain ? ` (skipped: ${noChain})` : ''}`, openLocal, noChain],
] as const

for (const [name, open, skipped] of subjects) {
  describe.skipIf(skipped)(`the port of a chain, by ${name}`, () => {
    let subject: Subject
    let chain: Chain
    beforeAll(async () => {
      subject = await open()
      chain = subject.chain
    })
    afterAll(() => subject?.close())

    test('tells who has which coins and tokens, however the address is written', async () => {
      const { address } = wallet('holder')
      await subject.pay(address, parseEther('1.5'))
      await subject.mint(token, address, 7n)
      expect(await chain.balance(address)).toBe(parseEther('1.5'))
      expect(await chain.tokenBalance(token, address.toLowerCase() as Hex)).toBe(7n)
      expect(await chain.tokenBalance(otherToken, address)).toBe(0n)
      expect(await chain.balance(wallet('without').address)).toBe(0n)
    })

    test('tells what is deployed, and which of it is a Safe', async () => {
      const nothing = wallet('without').address
      expect(await Promise.all([token, nothing].map(chain.isDeployed))).toEqual([true, false])
      expect(await Promise.all([token, nothing].map(chain.safe))).toEqual([{ owners: [], threshold: 0 }, null])
      expect(await chain.gasPrice()).toBeTypeOf('bigint')
    })

    test('accepts no signature for who has no contract, nor for a contract that knows none', async () => {
      for (const address of [wallet('without').address, token])
        expect(await chain.verifyMessage(address, 'hello', `0x${'ab'.repeat(65)}`)).toBe(false)
    })

    test('accepts what the owner of a contract signs, and nothing else', async () => {
      const owner = wallet('owner of a contract')
      const address = await subject.contractOf(owner.address)
      const signature = await owner.signMessage({ message: 'hello' })
      expect(await chain.verifyMessage(address, 'hello', signature)).toBe(true)
      expect(await chain.verifyMessage(address, 'other', signature)).toBe(false)
    })

    test.skipIf(skipped !== null || (name !== 'the fake' && noSafe))('tells the owners of a Safe', async () => {
      const owner = wallet('owner of a Safe').address
      const address = await subject.safeOf(owner)
      expect(await chain.safe(address)).toEqual({ owners: [owner], threshold: 1 })
    })

    test('finds the latest transfers, newest first, of the tokens that are named and of coins', async () => {
      const { address } = wallet('payee')
      await subject.pay(address, 5n)
      await subject.mint(token, address, 6n)
      await subject.mint(otherToken, address, 7n)
      await subject.mint(token, address, 0n)
      await subject.pay(wallet('without').address, 8n)
      const { transfers, fromBlock, nativeFromBlock, toBlock } = await chain.transfers(address, [token])
      expect(transfers).toMatchObject([
        { value: 6n, token, from: zeroAddress },
        { value: 5n, token: null },
      ])
      for (const { to, hash, timestamp, blockNumber } of transfers) {
        expect(getAddress(to)).toBe(address)
        expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
        expect(timestamp % 1000).toBe(0)
        expect(fromBlock <= blockNumber && nativeFromBlock <= blockNumber && blockNumber <= toBlock).toBe(true)
      }
      expect((await chain.transfers(wallet('nobody').address, [token])).transfers).toEqual([])
    })
  })
}

const asked = (chain: Chain): (() => Promise<unknown>)[] => [
  () => chain.balance(token),
  () => chain.tokenBalance(token, token),
  () => chain.isDeployed(token),
  () => chain.safe(token),
  () => chain.gasPrice(),
  () => chain.verifyMessage(token, 'hello', '0x12'),
  () => chain.transfers(token, [token]),
]

describe('a chain that cannot be asked throws', () => {
  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('%s, by the fake', async (how) => {
    const chain = fakeChain(id)
    chain.away = how
    for (const ask of asked(chain)) await expect(ask()).rejects.toMatchObject({ code: how })
    chain.away = null
    expect(await chain.balance(token)).toBe(0n)
  })

  test('UPSTREAM_ERROR where nobody listens, without the key in the address', async () => {
    for (const ask of asked(at('http://127.0.0.1:1/secret-key'))) {
      const refusal = await ask().catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'UPSTREAM_ERROR' })
      const { message, cause } = refusal as Error
      expect(`${message} ${(cause as Error | undefined)?.message}`).not.toContain('secret-key')
    }
  })

  test('TIMEOUT where nobody answers', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const chain = at(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const answers = await Promise.allSettled(asked(chain).map((ask) => ask()))
    expect(answers).toMatchObject(answers.map(() => ({ status: 'rejected', reason: { code: 'TIMEOUT' } })))
    silent.close()
    silent.closeAllConnections()
  })
})
