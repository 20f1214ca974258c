import { SiweMessage } from 'siwe'
import { getAddress, isAddressEqual } from 'viem'
import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { checkNonce, consumeNonce, issueNonce } from './nonces.ts'
import { checkSignature } from './signatures.ts'

const statement = 'Sign in to Plaza.'

type Asked = Pick<Context, 'node' | 'origin'>

/** A message for this wallet to sign, with a nonce of its own. */
export async function writeMessage({ node, origin }: Asked, address: string, chainId: number | undefined) {
  const { siwe } = node.settings
  const chain = chainId ?? siwe.defaultChainId
  refuseOtherChains(siwe.chainIds, chain)
  const nonce = await issueNonce(address, node.now())
  const [site] = sitesOf({ node, origin })
  const message = new SiweMessage({
    ...site,
    address: getAddress(address),
    statement,
    version: '1',
    chainId: chain,
    nonce,
    issuedAt: new Date(node.now()).toISOString(),
  })
  return { message: message.prepareMessage(), nonce }
}

/** Proves that the address signed this message for us, and uses its nonce up. Only what passes everything does. */
export async function proveMessage(
  asked: Asked,
  raw: string,
  address: string,
  signature: string,
): Promise<{ chainId: number }> {
  const { node } = asked
  const { siwe } = node.settings
  const message = readMessage(raw, address)
  if (!isForUs(asked, message)) throw new AppError('INVALID_DOMAIN')
  refuseOtherChains(siwe.chainIds, message.chainId)
  await checkNonce(message.nonce, address, node.now())
  checkTimes(message, node.now())
  await checkSignature(siwe.rpcUrls.get(message.chainId), message.address, raw, signature)
  await consumeNonce(message.nonce, address)
  return { chainId: message.chainId }
}

/** The fields of a message that is written exactly as the standard has it. */
export function readMessage(raw: string, address: string): SiweMessage {
  try {
    const message = new SiweMessage(raw)
    const same = message.prepareMessage() === raw && isAddressEqual(getAddress(message.address), getAddress(address))
    if (same) return message
  } catch {
    // The parser throws plain errors for everything it does not read.
  }
  throw new AppError('INVALID_SIGNATURE')
}

const localHost = /^(localhost|127\.0\.0\.1)(:\d{1,5})?$/

/** What a message may be for: the configured site, and outside production the local one that was asked. */
function sitesOf({ node, origin }: Asked): { domain: string; uri: string }[] {
  const { siwe, production } = node.settings
  const configured = { domain: siwe.domain, uri: siwe.uri }
  if (production || origin === null || !localHost.test(origin)) return [configured]
  return [{ domain: origin, uri: `http://${origin}` }, configured]
}

function isForUs(asked: Asked, { domain, uri, scheme }: SiweMessage): boolean {
  const site = sitesOf(asked).find((one) => one.domain === domain)
  if (!site || !URL.canParse(uri)) return false
  const { origin, protocol } = new URL(site.uri)
  return new URL(uri).origin === origin && (scheme === undefined || `${scheme}:` === protocol)
}

function refuseOtherChains(chains: readonly number[], chainId: number): void {
  if (!chains.includes(chainId)) throw new AppError('CHAIN_NOT_SUPPORTED')
}

function checkTimes({ expirationTime, notBefore }: SiweMessage, now: number): void {
  if (expirationTime && Date.parse(expirationTime) <= now) throw new AppError('NONCE_EXPIRED')
  if (notBefore && Date.parse(notBefore) > now) throw new AppError('INVALID_SIGNATURE')
}
