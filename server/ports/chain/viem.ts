import { BaseError, createPublicClient, erc20Abi, type Hex, http, parseAbi, TimeoutError } from 'viem'
import { AppError } from '#shared/errors'
import { authorizationOf } from './authorizations.ts'
import type { Chain, Chains } from './port.ts'
import { isNotThere, tokenAt } from './tokens.ts'
import { transfersOf } from './transfers.ts'

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
