import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator'
import { createWalletClient, encodeFunctionData, type Hex, http, parseAbi, publicActions } from 'viem'
import { z } from 'zod'
import { networks } from '#shared/api/payments/payment-networks'
import type { LocalChain } from './chain.ts'
import { wallet } from './wallet.ts'

const { contracts } = z
  .object({ contracts: z.object({ Token3009: z.object({ deployed: z.templateLiteral(['0x', z.string()]) }) }) })
  .parse(JSON.parse(readFileSync('test/vectors/evm-test-contracts.json', 'utf8')))
const abi = parseAbi([
  'function init(string name, string version)',
  'function mint(address to, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
])
const { asset, name, version } = networks['base-sepolia']

/** The token of the network, at its real address, with which everything else is as it is there. */
export async function putToken(chain: LocalChain) {
  await chain.client.setCode({ address: asset, bytecode: contracts.Token3009.deployed })
  await chain.send({ to: asset, data: encodeFunctionData({ abi, functionName: 'init', args: [name, version] }) })
  return {
    mint: (to: Hex, value: bigint) =>
      chain.send({ to: asset, data: encodeFunctionData({ abi, functionName: 'mint', args: [to, value] }) }),
    balanceOf: (owner: string) =>
      chain.client.readContract({ address: asset, abi, functionName: 'balanceOf', args: [owner as Hex] }),
  }
}

interface Asked {
  x402Version: number
  paymentPayload: PaymentPayload
  paymentRequirements: PaymentRequirements
}

/** The facilitator of the real packages, which carries payments out on a local chain, behind HTTP. */
export async function openRealFacilitator(chain: LocalChain) {
  const account = wallet('facilitator')
  await chain.pay(account.address, '10')
  const client = createWalletClient({ account, chain: chain.client.chain, transport: http(chain.url) }).extend(
    publicActions,
  )
  // Its types want clients that are bound to one chain and account by their type, too.
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as never)
  const schemes = { 1: new ExactEvmSchemeV1(signer), 2: new ExactEvmScheme(signer) }
  let before: Promise<unknown> = Promise.resolve()
  const facilitator = {
    url: '',
    /** What it was asked, in order. */
    asked: [] as string[],
    /** So many of the next settlements are carried out, and their answers lost. */
    lost: 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer((request, response) => {
    void answer(request).then(
      (body) =>
        body === null
          ? response.destroy()
          : response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  facilitator.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return facilitator

  async function answer(request: IncomingMessage): Promise<unknown> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked
    const scheme = schemes[asked.x402Version as 1 | 2]
    const what = request.url ?? ''
    facilitator.asked.push(what)
    if (what === '/verify') return scheme.verify(asked.paymentPayload, asked.paymentRequirements)
    // One wallet: one transaction after the other.
    const settling = before.then(() => scheme.settle(asked.paymentPayload, asked.paymentRequirements))
    before = settling.catch(() => undefined)
    const settled = await settling
    if (facilitator.lost === 0) return settled
    facilitator.lost -= 1
    return null
  }
}
