import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  erc20Abi,
  type Hex,
  hexToString,
  http,
  isAddressEqual,
  type PublicClient,
  parseAbi,
  parseEventLogs,
  TimeoutError,
} from 'viem'
import { AppError } from '#shared/errors'
import type {
  AuthorizationState,
  AuthorizedTransfer,
  Chain,
  Chains,
  TokenMetadata,
  Transfer,
  Transfers,
} from './port.ts'

const windowBlocks = 2_000n
const windows = 5

const abi = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const [used, canceled, transferred] = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** The outcome of an authorization; its use is searched in the newest 10,000 blocks. */
async function authorizationOf(
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

const wholeAbi = parseAbi([
  'function supportsInterface(bytes4) view returns (bool)',
  'function owner() view returns (address)',
])
/** How tokens older than the standard name themselves. */
const bytesAbi = parseAbi(['function name() view returns (bytes32)', 'function symbol() view returns (bytes32)'])
const erc721 = '0x80ac58cd'
const somebody = '0x000000000000000000000000000000000000dEaD'
const mostDecimals = 36

const undecoded = /^(Abi|Position|InvalidBytes|IntegerOutOfRange|RecursiveRead|NegativeOffset|SizeOverflow|Slice)/

/** The contract there has no such function, or does not answer in its words. */
const isNotThere = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) =>
      cause instanceof ContractFunctionZeroDataError ||
      cause instanceof ContractFunctionRevertedError ||
      (cause instanceof BaseError && undecoded.test(cause.name)),
  ) !== null

/** What the contract at an address says of itself; null where it is not one of a token. */
async function tokenAt(client: PublicClient, address: Hex): Promise<TokenMetadata | null> {
  const erc20 = { address, abi: erc20Abi } as const
  const whole = { address, abi: wholeAbi } as const
  const bytes = { address, abi: bytesAbi } as const
  const text = async (functionName: 'name' | 'symbol') =>
    (await said(client.readContract({ ...erc20, functionName }))) ??
    textIn(await said(client.readContract({ ...bytes, functionName })))
  const [balance, decimals, isWhole, owner, name, symbol] = await Promise.all([
    said(client.readContract({ ...erc20, functionName: 'balanceOf', args: [somebody] })),
    said(client.readContract({ ...erc20, functionName: 'decimals' })),
    said(client.readContract({ ...whole, functionName: 'supportsInterface', args: [erc721] })),
    said(client.readContract({ ...whole, functionName: 'owner' })),
    text('name'),
    text('symbol'),
  ])
  const places = isWhole ? 0 : decimals
  if (balance === null || places === null || places > mostDecimals) return null
  return { name: name ?? '', symbol: symbol ?? '', decimals: places, owner }
}

const said = async <Answer>(answer: Promise<Answer>): Promise<Answer | null> =>
  answer.catch((error: unknown) => {
    if (isNotThere(error)) return null
    throw error
  })

const textIn = (bytes: Hex | null): string | null => bytes && hexToString(bytes, { size: 32 })

const logBlocks = 2_000n
const paymentBlocks = 10n
const most = 100

const [transferredEvent, safeReceived] = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event SafeReceived(address indexed sender, uint256 value)',
])

/** A transfer as it was found; some nodes do not say in a log when its block was made. */
type Found = Omit<Transfer, 'timestamp'> & { timestamp: number | null }

async function transfersOf(client: PublicClient, address: Hex, tokens: readonly Hex[]): Promise<Transfers> {
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
  const logs = await client.getLogs({ address: [...tokens], event: transferredEvent, args, strict: true, ...range })
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

export const openChains = (urls: ReadonlyMap<number, string>): Chains =>
  new Map([...urls].map(([id, url]) => [id, openChain(id, url)]))

const deadlineMilliseconds = 5_000
const safeAbi = parseAbi([
  'function getOwners() view returns (address[])',
  'function getThreshold() view returns (uint256)',
])

function openChain(id: number, url: string): Chain {
  const fetchOptions = { redirect: 'error' } as const
  const transport = http(url, { retryCount: 1, timeout: deadlineMilliseconds, fetchOptions })
  const client = createPublicClient({ transport })
  const isDeployed = async (address: Hex) => (await client.getCode({ address })) !== undefined
  return {
    id,
    balance: (address) => inTime(client.getBalance({ address })),
    tokenBalance: (address, owner) =>
      inTime(client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })),
    token: (address) => inTime(tokenAt(client, address)),
    isDeployed: (address) => inTime(isDeployed(address)),
    safe: (address) => inTime(readSafe(address)),
    gasPrice: () => inTime(client.getGasPrice()),
    verifyMessage,
    verifyHash,
    authorized: (token, transfer) => inTime(authorizationOf(client, token, transfer)),
    transfers: (address, tokens) => inTime(transfersOf(client, address, tokens)),
  }

  /** Reads the code first, as that throws if the chain is unreachable; the check itself would return false. */
  async function verifyMessage(address: Hex, message: string, signature: Hex) {
    await inTime(isDeployed(address))
    return client.verifyMessage({ address, message, signature }).catch(() => false)
  }

  async function verifyHash(address: Hex, hash: Hex, signature: Hex) {
    await inTime(isDeployed(address))
    return client.verifyHash({ address, hash, signature }).catch(() => false)
  }

  async function readSafe(address: Hex) {
    if (!(await isDeployed(address))) return null
    const contract = { address, abi: safeAbi } as const
    const [owners, threshold] = await Promise.all([
      client.readContract({ ...contract, functionName: 'getOwners' }),
      client.readContract({ ...contract, functionName: 'getThreshold' }),
    ]).catch((error: unknown) => {
      if (isNotThere(error)) return [[], 0n] as const
      throw error
    })
    return { owners, threshold: Number(threshold) }
  }
}

async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('TIMEOUT', { message: tooLate })), deadlineMilliseconds)
  })
  try {
    return await Promise.race([answer, late])
  } catch (error) {
    throw error instanceof AppError ? error : refusalOf(error)
  } finally {
    clearTimeout(timer)
  }
}

const tooLate = 'The chain took too long to answer'

/** The long message of an error holds the endpoint, which may hold a key; only the short one is kept. */
function refusalOf(error: unknown): AppError {
  if (!(error instanceof BaseError)) return new AppError('UPSTREAM_ERROR', { message: 'The chain could not be asked' })
  const cause = new Error(error.shortMessage)
  const isLate = error.walk((one) => one instanceof TimeoutError) !== null
  if (isLate) return new AppError('TIMEOUT', { message: tooLate, cause })
  return new AppError('UPSTREAM_ERROR', { message: 'The chain could not be asked', cause })
}
