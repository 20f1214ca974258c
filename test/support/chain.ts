import { type ChildProcess, spawn } from 'node:child_process'
import { createTestClient, defineChain, type Hex, http, parseEther, publicActions, walletActions } from 'viem'
import { findAnvil } from '../../scripts/test-servers.mjs'

/** The local chain; `npm test` provides it where that is possible. */
const binary = findAnvil()

/** Why there is no local chain here; null where there is one. */
export const noChain = binary === undefined ? `no local chain for ${process.platform} ${process.arch}` : null

export type LocalChain = Awaited<ReturnType<typeof startChain>>

/** A chain of its own on a free port, where gas costs nothing and P-256 signatures can be checked. */
export async function startChain(id: number) {
  if (binary === undefined) throw new Error(noChain ?? '')
  const free = ['--base-fee', '0', '--gas-price', '0']
  const child = spawn(binary, [
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--chain-id',
    String(id),
    '--hardfork',
    'osaka',
    ...free,
  ])
  const url = await listening(child)
  const chain = defineChain({
    id,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const client = createTestClient({ mode: 'anvil', chain, transport: http(url), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
  const [account] = await client.getAddresses()
  if (!account) throw new Error('The chain has no account')

  /** Sends from an account that holds coins, and waits until it is in a block. */
  const send = async (transaction: { to?: Hex; data?: Hex; value?: bigint }): Promise<Hex> => {
    const hash = await client.sendTransaction({ account, ...transaction })
    const { status, contractAddress, to } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`The transaction was reverted: ${hash}`)
    return contractAddress ?? to ?? '0x'
  }

  return {
    id,
    url,
    client,
    funder: account,
    send,
    pay: (to: Hex, ether: string) => send({ to, value: parseEther(ether) }),
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`The chain did not start: ${said}`)))
    child.stderr?.on('data', (part: Buffer) => {
      said += part
    })
    child.stdout?.on('data', (part: Buffer) => {
      said += part
      const address = /Listening on (\S+:\d+)/.exec(said)?.[1]
      if (address) resolve(`http://${address}`)
    })
  })
}
