import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { checkTimes, checkWords, isForUs, isSignInStatement, signInStatement, sitesOf } from './messages.ts'
import { checkNonce, consumeNonce, issueNonce } from './nonces.ts'
import { readSolanaMessage, writeSolanaMessage } from './siws-message.ts'

type MessageRequest = Pick<Context, 'node' | 'origin'>
interface SignedInput {
  address?: string | undefined
  publicKey?: string | undefined
  message: string
  signature: string
}

const keyBytes = 32
const signatureBytes = 64
const longestSignature = 90
const chains = /^(solana:)?(mainnet|testnet|devnet|localnet)$/

/** A message for this wallet to sign, with a new nonce. Its address is the case-sensitive key. */
export async function writeSolana({ node, origin }: MessageRequest, address: string) {
  keyOf(address)
  const now = node.now()
  const nonce = await issueNonce(address, now)
  const [site] = sitesOf({ node, origin })
  return {
    message: writeSolanaMessage({
      ...site,
      address,
      statement: signInStatement,
      nonce,
      issuedAt: new Date(now).toISOString(),
    }),
    nonce,
  }
}

/** Verifies that the wallet signed this message for us, uses the nonce up, and returns the address. */
export async function proveSolana(
  asked: MessageRequest,
  { address, publicKey = address, ...signed }: SignedInput,
): Promise<string> {
  if (publicKey === undefined) throw new AppError('VALIDATION_ERROR', { message: 'address is required' })
  if (address !== undefined && !isSameAccount(address, publicKey))
    throw new AppError('VALIDATION_ERROR', { message: 'address and publicKey differ' })
  const key = keyOf(publicKey)
  const now = asked.node.now()
  const message = readSolanaMessage(signed.message)
  if (!message || !isSameAccount(message.address, publicKey)) throw new AppError('INVALID_SIGNATURE')
  if (!isForUs(asked, message)) throw new AppError('INVALID_DOMAIN')
  checkWords(message, isSignInStatement)
  if (message.chainId !== undefined && !chains.test(message.chainId)) throw new AppError('CHAIN_NOT_SUPPORTED')
  checkTimes(message, await checkNonce(message.nonce, publicKey, now), now)
  if (!isSignatureValid(key, signed.message, signed.signature)) throw new AppError('INVALID_SIGNATURE')
  await consumeNonce(message.nonce, publicKey)
  return publicKey
}

function keyOf(address: string): Uint8Array {
  const key = base58.decode(address)
  if (key.length !== keyBytes) throw new AppError('VALIDATION_ERROR', { message: 'Invalid Solana address' })
  return key
}

/** By the strict rules: no key of small order, and one form of each signature. */
export function isSignatureValid(key: Uint8Array, message: string, signature: string): boolean {
  if (signature.length > longestSignature) return false
  try {
    const bytes = base58.decode(signature)
    const text = new TextEncoder().encode(message)
    return bytes.length === signatureBytes && ed25519.verify(bytes, text, key, { zip215: false })
  } catch {
    return false
  }
}
