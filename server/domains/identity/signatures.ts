import { createPublicClient, type Hex, http, isHex, verifyMessage } from 'viem'
import { AppError } from '#shared/errors'

const longest = 2 + 2 * 8192
const keySignature = 2 + 2 * 65

/** A key's signature is checked here; a contract's (EIP-1271, ERC-6492) by one question to its chain, where we know one. */
export async function checkSignature(
  rpcUrl: string | undefined,
  address: string,
  message: string,
  signature: string,
): Promise<void> {
  if (!isHex(signature) || !isHex(address) || signature.length % 2 !== 0 || signature.length > longest)
    throw new AppError('INVALID_SIGNATURE')
  if (await isSignedByKey(address, message, signature)) return
  if (rpcUrl !== undefined && (await isSignedByContract(rpcUrl, address, message, signature))) return
  throw new AppError('INVALID_SIGNATURE')
}

async function isSignedByKey(address: Hex, message: string, signature: Hex): Promise<boolean> {
  if (signature.length !== keySignature) return false
  return verifyMessage({ address, message, signature }).catch(() => false)
}

/** The look at the code comes first because it throws when the chain cannot be asked; the check itself would say no. */
async function isSignedByContract(rpcUrl: string, address: Hex, message: string, signature: Hex): Promise<boolean> {
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 1, timeout: 5_000 }) })
  await client.getCode({ address }).catch((cause: unknown) => {
    throw new AppError('UPSTREAM_ERROR', { message: 'The chain could not be asked', cause })
  })
  return client.verifyMessage({ address, message, signature }).catch(() => false)
}
