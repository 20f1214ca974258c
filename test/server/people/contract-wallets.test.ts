// Modes: embedded
import { readFileSync } from 'node:fs'
import { encodeFunctionData, getAddress, type Hex, parseAbi, serializeErc6492Signature } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Booted, boot } from '#test/support/boot'
import { type LocalChain, noChain, startChain } from '#test/support/chain'
import { call, type Wallet, wallet } from '#test/support/wallet'

const { contracts } = z
  .object({ contracts: z.object({ WalletFactory: z.object({ bytecode: z.templateLiteral(['0x', z.string()]) }) }) })
  .parse(JSON.parse(readFileSync('test/vectors/evm-test-contracts.json', 'utf8')))
const abi = parseAbi([
  'function create(address owner, uint256 salt) returns (address)',
  'function predict(address owner, uint256 salt) view returns (address)',
])
const Begun = z.object({ message: z.string() })
const [home, elsewhere, unasked] = [8453, 10, 1]

describe.skipIf(noChain)(`wallets that are contracts${noChain ? ` (skipped: ${noChain})` : ''}`, () => {
  let chain: LocalChain
  let other: LocalChain
  let server: Booted
  let factory: Hex

  beforeAll(async () => {
    ;[chain, other] = await Promise.all([startChain(home), startChain(elsewhere)])
    server = await boot({ environment: { [`RPC_URL_${home}`]: chain.url, [`RPC_URL_${elsewhere}`]: other.url } })
    factory = await chain.send({ data: contracts.WalletFactory.bytecode })
  })
  afterAll(async () => {
    await server?.close()
    await Promise.all([chain?.close(), other?.close()])
  })

  let salt = 0n
  /** A contract wallet of this owner: its address, and the call that deploys it there. */
  async function contractOf(owner: Wallet) {
    const args = [owner.address, ++salt] as const
    const address = await chain.client.readContract({ address: factory, abi, functionName: 'predict', args })
    const creation = encodeFunctionData({ abi, functionName: 'create', args })
    return { address, creation, deploy: () => chain.send({ to: factory, data: creation }) }
  }

  /** Signs in as an address with what the signer makes of the message. */
  async function enter(address: Hex, sign: (message: string) => Promise<Hex>, chainId: number = home, times = 1) {
    const begun = await call(server.url, `GET /api/auth/verify?address=${address}&chainId=${chainId}`)
    const { message } = Begun.parse(begun.body)
    const body = { address, message, signature: await sign(message) }
    return Promise.all(Array.from({ length: times }, () => call(server.url, 'POST /api/auth/verify', body)))
  }
  const by = (owner: Wallet) => (message: string) => owner.signMessage({ message })
  /** The signature of a wallet that is yet to be deployed: it carries the call that would do so. */
  const undeployed = (owner: Wallet, creation: Hex) => async (message: string) =>
    serializeErc6492Signature({ address: factory, data: creation, signature: await owner.signMessage({ message }) })

  const refused = { status: 401, code: 'INVALID_SIGNATURE' }

  test('sign in by the word of their contract (EIP-1271)', async () => {
    const owner = wallet('owner of a contract')
    const { address, deploy } = await contractOf(owner)
    await deploy()
    const [answer] = await enter(address, by(owner))
    expect(answer).toMatchObject({
      status: 200,
      body: { userAddress: address.toLowerCase(), user: { wallet_type: 'eoa', wallet_address: address.toLowerCase() } },
    })
    expect(await enter(address, by(wallet('stranger')))).toMatchObject([refused])
  })

  test('sign in before they are deployed (ERC-6492), which deploys nothing', async () => {
    const owner = wallet('owner of a plan')
    const { address, creation } = await contractOf(owner)
    expect(await enter(address, undeployed(owner, creation))).toMatchObject([
      { status: 200, body: { userAddress: address.toLowerCase() } },
    ])
    expect(await chain.client.getCode({ address })).toBeUndefined()
    expect(await enter(address, by(owner))).toMatchObject([refused])
    expect(await enter(address, undeployed(wallet('stranger'), creation))).toMatchObject([refused])
  })

  test('sign in before and after with the one signature they have', async () => {
    const owner = wallet('owner of both')
    const { address, creation, deploy } = await contractOf(owner)
    await deploy()
    expect(await enter(address, undeployed(owner, creation))).toMatchObject([{ status: 200 }])
  })

  test('are nobody else: the creation of another wallet opens only that one', async () => {
    const [owner, victim] = [wallet('owner of a plan'), wallet('victim')]
    const mine = await contractOf(owner)
    const theirs = await contractOf(victim)
    expect(await enter(theirs.address, undeployed(owner, mine.creation))).toMatchObject([refused])
    expect(await enter(getAddress(victim.address), undeployed(owner, mine.creation))).toMatchObject([refused])
  })

  test('are asked for on the chain that the message names', async () => {
    const owner = wallet('owner of a contract')
    const { address, deploy } = await contractOf(owner)
    await deploy()
    expect(await enter(address, by(owner), elsewhere)).toMatchObject([refused])
    expect(await enter(address, by(owner), unasked)).toMatchObject([refused])
    expect(await enter(address, by(owner), home)).toMatchObject([{ status: 200 }])
  })

  test('of fifty who send one signature at once, one is signed in', async () => {
    const owner = wallet('owner of a contract')
    const { address, deploy } = await contractOf(owner)
    await deploy()
    const answers = await enter(address, by(owner), home, 50)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'INVALID_NONCE')).toHaveLength(49)
  })
})
