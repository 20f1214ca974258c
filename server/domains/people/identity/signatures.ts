import { type Hex, isHex, verifyMessage } from 'viem'
import type { Chain } from '#server/ports/chain/port'
import { AppError } from '#shared/errors'

const longest = 2 + 2 * 8192
const keySignature = 2 + 2 * 65

/** Asks a chain about a signature, or refuses. */
export type AskChain = (ask: () => Promise<boolean>) => Promise<boolean>

/** Checks a key's signature here, and a contract's (EIP-1271, ERC-6492) by one question to its chain, if configured. */
export async function checkSignature(
  chain: Chain | undefined,
  address: string,
  message: string,
  signature: string,
  askChain: AskChain = (ask) => ask(),
): Promise<void> {
  if (!isHex(signature) || !isHex(address) || signature.length % 2 !== 0 || signature.length > longest)
    throw new AppError('INVALID_SIGNATURE')
  if (await isSignedByKey(address, message, signature)) return
  if (chain !== undefined && (await askChain(() => isSignedByContract(chain, address, message, signature)))) return
  if (chain !== undefined) throw new AppError('INVALID_SIGNATURE')
  // A signature of 65 bytes is one of a wrong key.
  if (signature.length <= keySignature) throw new AppError('INVALID_SIGNATURE')
  const why = 'A wallet that is a contract cannot be checked: no node of its chain is configured here'
  throw new AppError('INVALID_SIGNATURE', { message: `Invalid signature. ${why}.`, details: { why } })
}

async function isSignedByKey(address: Hex, message: string, signature: Hex): Promise<boolean> {
  if (signature.length !== keySignature) return false
  return verifyMessage({ address, message, signature }).catch(() => false)
}

/** For the caller, a late chain is an unreachable one. */
async function isSignedByContract(chain: Chain, address: Hex, message: string, signature: Hex): Promise<boolean> {
  return chain.verifyMessage(address, message, signature).catch((cause: unknown) => {
    throw new AppError('UPSTREAM_ERROR', { message: 'The chain could not be asked', cause })
  })
}
