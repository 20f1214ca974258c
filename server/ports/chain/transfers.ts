import { type Hex, isAddressEqual, type PublicClient, parseAbi } from 'viem'
import type { Transfer, Transfers } from './port.ts'

const logBlocks = 2_000n
const paymentBlocks = 10n
const most = 100

const [transferred, safeReceived] = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event SafeReceived(address indexed sender, uint256 value)',
])

/** A transfer as it was found; some nodes do not say in a log when its block was made. */
type Found = Omit<Transfer, 'timestamp'> & { timestamp: number | null }

export async function transfersOf(client: PublicClient, address: Hex, tokens: readonly Hex[]): Promise<Transfers> {
  const toBlock = await client.getBlockNumber({ cacheTime: 0 })
  const fromBlock = since(toBlock, logBlocks)
  const nativeFromBlock = since(toBlock, paymentBlocks)
  const range = { fromBlock, toBlock }
  const found = await Promise.all([
    tokenTransfers(client, tokens, { from: address }, range),
    tokenTransfers(client, tokens, { to: address }, range),
    receivedBySafe(client, address, range),
    payments(client, address, { fromBlock: nativeFromBlock, toBlock }),
  ])
  const newest = distinct(found.flat())
    .sort((one, other) => Number(other.blockNumber - one.blockNumber))
    .slice(0, most)
  return { transfers: await withTimes(client, newest), fromBlock, nativeFromBlock, toBlock }
}

const since = (head: bigint, blocks: bigint): bigint => (head < blocks ? 0n : head - blocks + 1n)

interface Range {
  fromBlock: bigint
  toBlock: bigint
}

async function tokenTransfers(
  client: PublicClient,
  tokens: readonly Hex[],
  args: { from: Hex } | { to: Hex },
  range: Range,
): Promise<Found[]> {
  if (tokens.length === 0) return []
  const logs = await client.getLogs({ address: [...tokens], event: transferred, args, strict: true, ...range })
  return logs.map(({ address, args: { from, to, value }, ...log }) => ({
    ...placeOf(log),
    from,
    to,
    value,
    token: address,
  }))
}

/** What a Safe says itself of coins it received, also from inside other calls. */
async function receivedBySafe(client: PublicClient, address: Hex, range: Range): Promise<Found[]> {
  const logs = await client.getLogs({ address, event: safeReceived, strict: true, ...range })
  return logs.map(({ args: { sender, value }, ...log }) => ({
    ...placeOf(log),
    ...{ from: sender, to: address, value, token: null },
  }))
}

async function payments(client: PublicClient, address: Hex, { fromBlock, toBlock }: Range): Promise<Found[]> {
  const numbers = Array.from({ length: Number(toBlock - fromBlock) + 1 }, (_, at) => fromBlock + BigInt(at))
  const blocks = await Promise.all(
    numbers.map((blockNumber) => client.getBlock({ blockNumber, includeTransactions: true })),
  )
  return blocks.flatMap(({ number: blockNumber, timestamp, transactions }) =>
    transactions.flatMap(({ hash, from, to, value }) => {
      if (!to || (!isAddressEqual(from, address) && !isAddressEqual(to, address))) return []
      return { hash, blockNumber, timestamp: milliseconds(timestamp), from, to, value, token: null }
    }),
  )
}

const milliseconds = (seconds: bigint): number => Number(seconds) * 1000

const placeOf = (log: { transactionHash: Hex; blockNumber: bigint; blockTimestamp?: bigint | null | undefined }) => ({
  hash: log.transactionHash,
  blockNumber: log.blockNumber,
  timestamp: log.blockTimestamp == null ? null : milliseconds(log.blockTimestamp),
})

/** A payment to a Safe is found twice, and transfers of nothing are sent to be mistaken for others. */
function distinct(found: readonly Found[]): Found[] {
  const known = new Map<string, Found>()
  for (const one of found) {
    if (one.value === 0n) continue
    known.set([one.hash, one.from, one.to, one.value, one.token].join(' ').toLowerCase(), one)
  }
  return [...known.values()]
}

async function withTimes(client: PublicClient, found: readonly Found[]): Promise<Transfer[]> {
  const missing = [
    ...new Set(found.filter(({ timestamp }) => timestamp === null).map(({ blockNumber }) => blockNumber)),
  ]
  const blocks = await Promise.all(missing.map((blockNumber) => client.getBlock({ blockNumber })))
  const times = new Map(blocks.map(({ number, timestamp }) => [number, milliseconds(timestamp)]))
  return found.map((one) => ({ ...one, timestamp: one.timestamp ?? times.get(one.blockNumber) ?? 0 }))
}
