import { SiweMessage } from 'siwe'
import { getAddress, isAddressEqual } from 'viem'
import type { Context, Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { checkTimes, checkWords, isForUs, isSignInStatement, signInStatement, sitesOf } from './messages.ts'
import { checkNonce, consumeNonce, issueNonce } from './nonces.ts'
import { siweSettings } from './settings.ts'
import { type AskChain, checkSignature } from './signatures.ts'

export type MessageRequest = Pick<Context, 'node' | 'origin'>

/** The purpose of a signed message: its statement, and its own nonces. */
export interface Purpose {
  statement: string
  /** Is the statement valid for this purpose? */
  isFit(statement: string | undefined): boolean
  nonceFor(node: Node, address: string): string | Promise<string>
  /** The time of a nonce. Refuses one that this address may not use now; the nonce stays usable. */
  checkNonce(node: Node, nonce: string, address: string): number | Promise<number>
}

const signInPurpose: Purpose = {
  statement: signInStatement,
  isFit: isSignInStatement,
  nonceFor: (node, address) => issueNonce(address, node.now()),
  checkNonce: (node, nonce, address) => checkNonce(nonce, address, node.now()),
}

/** A message for this wallet to sign, with a new nonce. */
export async function writeMessage(
  { node, origin }: MessageRequest,
  address: string,
  chainId: number | undefined,
  purpose = signInPurpose,
) {
  const siwe = siweSettings.of(node)
  const chain = chainId ?? siwe.defaultChainId
  refuseOtherChains(siwe.chainIds, chain)
  const now = node.now()
  const nonce = await purpose.nonceFor(node, address)
  const [site] = sitesOf({ node, origin })
  const message = new SiweMessage({
    ...site,
    address: getAddress(address),
    statement: purpose.statement,
    version: '1',
    chainId: chain,
    nonce,
    issuedAt: new Date(now).toISOString(),
  })
  return { message: message.prepareMessage(), nonce }
}

/** Verifies that the address signed this message for us, and uses the nonce up after all checks. */
export async function proveMessage(
  asked: MessageRequest,
  raw: string,
  address: string,
  signature: string,
): Promise<{ chainId: number }> {
  const { chainId, nonce } = await checkMessage(asked, raw, address, signature)
  await consumeNonce(nonce, address)
  return { chainId }
}

/** The fields of a message that the address signed for us and this purpose; the nonce stays usable. */
export async function checkMessage(
  asked: MessageRequest,
  raw: string,
  address: string,
  signature: string,
  purpose = signInPurpose,
  askChain?: AskChain,
): Promise<SiweMessage> {
  const { node } = asked
  const siwe = siweSettings.of(node)
  const message = readMessage(raw, address)
  if (!isForUs(asked, message)) throw new AppError('INVALID_DOMAIN')
  checkWords(message, purpose.isFit)
  refuseOtherChains(siwe.chainIds, message.chainId)
  const nonceAt = await purpose.checkNonce(node, message.nonce, address)
  checkTimes(message, nonceAt, node.now())
  await checkSignature(node.services.chains.get(message.chainId), message.address, raw, signature, askChain)
  return message
}

/** The fields of a message in exactly the standard's form. */
export function readMessage(raw: string, address: string): SiweMessage {
  try {
    const message = new SiweMessage(raw)
    const same = message.prepareMessage() === raw && isAddressEqual(getAddress(message.address), getAddress(address))
    if (same) return message
  } catch {
    // The parser throws plain errors for invalid text.
  }
  throw new AppError('INVALID_SIGNATURE')
}

function refuseOtherChains(chains: readonly number[], chainId: number): void {
  if (!chains.includes(chainId)) throw new AppError('CHAIN_NOT_SUPPORTED')
}
