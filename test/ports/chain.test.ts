import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  encodeFunctionData,
  getAddress,
  type Hex,
  hashMessage,
  isHash,
  parseAbi,
  parseEther,
  recoverAddress,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { digestOf } from '#server/domains/payments/payments/exact'
import { safeAddressOf } from '#server/domains/people/accounts/smart-account'
import { fakeChain } from '#server/ports/chain/fake'
import type { AuthorizedTransfer, Chain } from '#server/ports/chain/port'
import { openChains } from '#server/ports/chain/viem'
import { networks } from '#shared/api/payments/payment-networks'
import { type LocalChain, noChain, startChain } from '#test/support/chain'
import { heavy } from '#test/support/heavy'
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
  'function init(string name, string version)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
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
  /** Carries out an authorized transfer of tokens of the wallet `payer`; gives the transaction. */
  carryOut(transfer: AuthorizedTransfer): Promise<Hex>
  /** Deploys a Safe of one owner; gives its address. */
  safeOf(owner: Hex): Promise<Hex>
  close(): Promise<unknown>
}

async function openFake(): Promise<Subject> {
  const chain = fakeChain(id)
  const said = { name: '', symbol: 'USDC', decimals: 6, owner: null }
  for (const address of [token, otherToken]) chain.deploy(address, { token: said })
  return {
    chain,
    pay: async (to, value) => chain.transfer({ to, value }),
    mint: async (of, to, value) => chain.transfer({ to, value, token: of }),
    async contractOf(owner) {
      const address = getAddress(`0x${'c0'.repeat(20)}`)
      chain.deploy(address, {
        async accepts(said, signature) {
          const signer = await recoverAddress({ hash: isHash(said) ? said : hashMessage(said), signature })
          return signer === owner
        },
      })
      return address
    },
    async carryOut(transfer) {
      const transaction = `0x${'7a'.repeat(32)}` as const
      chain.authorize(transfer, transaction)
      return transaction
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
    async carryOut({ from, to, value, nonce }) {
      const facts = { ...networks['base-sepolia'], chainId: id, asset: token }
      const times = { validAfter: '0', validBefore: '4102444800' }
      const authorization = { from, to, value: String(value), ...times, nonce }
      const signature = await wallet('payer').sign({ hash: digestOf({ authorization, signature: '0x' }, facts) })
      const sendTo = (data: Hex) => local.client.sendTransaction({ account: local.funder, to: token, data })
      await sendTo(encodeFunctionData({ abi, functionName: 'init', args: [facts.name, facts.version] }))
      const args = [from, to, value, 0n, 4_102_444_800n, nonce, signature] as const
      const hash = await sendTo(encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args }))
      const { status } = await local.client.waitForTransactionReceipt({ hash })
      expect(status).toBe('success')
      return hash
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

    test('says what a contract of a token says of itself, and null where there is none', async () => {
      expect(await chain.token(token)).toMatchObject({ decimals: 6, owner: null })
      expect(await chain.token(wallet('without').address)).toBeNull()
      expect(await chain.token(await subject.contractOf(wallet('owner of a contract').address))).toBeNull()
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
      expect(await chain.verifyHash(address, hashMessage('hello'), signature)).toBe(true)
      expect(await chain.verifyHash(address, hashMessage('other'), signature)).toBe(false)
      expect(await chain.verifyHash(wallet('without').address, hashMessage('hello'), signature)).toBe(false)
    })

    test('tells what became of an authorized transfer', async () => {
      const transfer = { from: wallet('payer').address, to: wallet('paid').address, value: 4n }
      const nonce = `0x${'0d'.repeat(32)}` as const
      await subject.mint(token, transfer.from, 10n)
      const open = { openAt: expect.any(Number) }
      expect(await chain.authorized(token, { ...transfer, nonce })).toEqual(open)
      const transaction = await subject.carryOut({ ...transfer, nonce })
      expect(await chain.authorized(token, { ...transfer, nonce })).toEqual({ transaction })
      for (const other of [{ to: token }, { value: 5n }])
        expect(await chain.authorized(token, { ...transfer, ...other, nonce })).toBe('other')
      expect(await chain.authorized(token, { ...transfer, nonce: `0x${'0e'.repeat(32)}` })).toEqual(open)
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
  () => chain.token(token),
  () => chain.isDeployed(token),
  () => chain.safe(token),
  () => chain.gasPrice(),
  () => chain.verifyMessage(token, 'hello', '0x12'),
  () => chain.verifyHash(token, hashMessage('hello'), '0x12'),
  () => chain.authorized(token, { from: token, to: token, value: 1n, nonce: hashMessage('a nonce') }),
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

  test('TIMEOUT where nobody answers', heavy, async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const chain = at(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const answers = await Promise.allSettled(asked(chain).map((ask) => ask()))
    expect(answers).toMatchObject(answers.map(() => ({ status: 'rejected', reason: { code: 'TIMEOUT' } })))
    silent.close()
    silent.closeAllConnections()
  })
})
