import { type Hex, isAddressEqual, type PublicClient, parseAbi, parseEventLogs } from 'viem'
import type { AuthorizationState, AuthorizedTransfer } from './port.ts'

const windowBlocks = 2_000n
const windows = 5

const abi = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const [used, canceled, transferred] = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** The outcome of an authorization; its use is searched in the newest 10,000 blocks. */
export async function authorizationOf(
  client: PublicClient,
  token: Hex,
  transfer: AuthorizedTransfer,
): Promise<AuthorizationState> {
  const { from: authorizer, nonce } = transfer
  const { number: blockNumber, timestamp } = await client.getBlock()
  const isSpent = await client.readContract({
    address: token,
    abi,
    functionName: 'authorizationState',
    args: [authorizer, nonce],
    blockNumber,
  })
  if (!isSpent) return { openAt: Number(timestamp) * 1_000 }
  let toBlock = await client.getBlockNumber({ cacheTime: 0 })
  for (let looked = 0; looked < windows && toBlock >= 0n; looked++) {
    const fromBlock = toBlock < windowBlocks ? 0n : toBlock - windowBlocks + 1n
    const where = { address: token, args: { authorizer, nonce }, fromBlock, toBlock }
    const [[use], [end]] = await Promise.all([
      client.getLogs({ event: used, ...where }),
      client.getLogs({ event: canceled, ...where }),
    ])
    if (end) return 'other'
    if (use)
      return (await isCarriedOut(client, token, use.transactionHash, transfer))
        ? { transaction: use.transactionHash }
        : 'other'
    toBlock = fromBlock - 1n
  }
  return 'unseen'
}

async function isCarriedOut(client: PublicClient, token: Hex, hash: Hex, wanted: AuthorizedTransfer): Promise<boolean> {
  const { logs } = await client.getTransactionReceipt({ hash })
  return parseEventLogs({ abi: [transferred], logs }).some(
    ({ address, args: { from, to, value } }) =>
      isAddressEqual(address, token) &&
      isAddressEqual(from, wanted.from) &&
      isAddressEqual(to, wanted.to) &&
      value === wanted.value,
  )
}
