import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  erc20Abi,
  type Hex,
  hexToString,
  type PublicClient,
  parseAbi,
} from 'viem'
import type { TokenMetadata } from './port.ts'

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
export const isNotThere = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) =>
      cause instanceof ContractFunctionZeroDataError ||
      cause instanceof ContractFunctionRevertedError ||
      (cause instanceof BaseError && undecoded.test(cause.name)),
  ) !== null

/** What the contract at an address says of itself; null where it is not one of a token. */
export async function tokenAt(client: PublicClient, address: Hex): Promise<TokenMetadata | null> {
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
