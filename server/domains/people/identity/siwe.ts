import type { SiweMessage } from 'siwe'
import { getAddress, type Hex, isAddressEqual, isHex, verifyMessage } from 'viem'
import type { Context, Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Nonce, Nonces } from './model.ts'
import { siweSettings } from './settings.ts'

export const signInStatement = 'Sign in to Plaza.'

export type MessageRequest = Pick<Context, 'node' | 'origin'>
/** The request of a caller who may link the wallet. */
export type WalletRequest = MessageRequest & Pick<Context, 'caller'>
interface Site {
  domain: string
  uri: string
}

const localHost = /^(localhost|127\.0\.0\.1)(:\d{1,5})?$/

/** The sites for which a message is valid: the configured one, and outside production the requested local one. */
export function sitesOf({ node, origin }: MessageRequest): [Site, ...Site[]] {
  const { domain, uri } = siweSettings.of(node)
  const configured = { domain, uri }
  if (node.settings.production || origin === null || !localHost.test(origin)) return [configured]
  return [{ domain: origin, uri: `http://${origin}` }, configured]
}

/** Parsers read another host in an authority with a user or a backslash. */
const plainUri = /^[a-z]+:\/\/[^/?#@\\]*([/?#]|$)/i

/** Does the message name us in its domain, its URI and, if present, its scheme? */
export function isForUs(
  asked: MessageRequest,
  { domain, uri, scheme }: Site & { scheme?: string | undefined },
): boolean {
  const site = sitesOf(asked).find((one) => one.domain === domain)
  if (!site || !plainUri.test(uri) || !URL.canParse(uri)) return false
  const { origin, protocol } = new URL(site.uri)
  return new URL(uri).origin === origin && (scheme === undefined || `${scheme}:` === protocol)
}

interface Times {
  issuedAt?: string | undefined
  expirationTime?: string | undefined
  notBefore?: string | undefined
}

/** The tolerance for clocks of wallets that are fast, and for those that are slow. */
const aheadMilliseconds = 300_000
const behindMilliseconds = 86_400_000

/** Refuses a message outside its own times, from before its nonce, or from the future. */
export function checkTimes({ issuedAt, expirationTime, notBefore }: Times, nonceAt: number, now: number): void {
  if (expirationTime && !(Date.parse(expirationTime) > now)) throw new AppError('NONCE_EXPIRED')
  if (notBefore && !(Date.parse(notBefore) <= now)) throw new AppError('INVALID_SIGNATURE')
  const at = issuedAt ? Date.parse(issuedAt) : now
  const isTimely = at >= nonceAt - behindMilliseconds && at <= now + aheadMilliseconds
  if (!isTimely) throw new AppError('INVALID_SIGNATURE', { message: 'The message was issued at another time' })
}

interface MessageWords {
  statement?: string | undefined
  resources?: unknown
}

/** Is the statement one sentence about signing in? Clients may word it themselves, or omit it. */
export const isSignInStatement = (statement: string | undefined): boolean =>
  !statement || /^sign[ -]?in\b(?:[^.:;!?]|[.:](?=\S))*[.!]?$/i.test(statement)

/** Refuses a message with another statement, or with resources, which grant rights elsewhere (ERC-5573). */
export function checkWords(
  { statement, resources }: MessageWords,
  isFit: (statement: string | undefined) => boolean,
): void {
  if (!isFit(statement)) throw new AppError('INVALID_SIGNATURE', { message: 'The message is of something else' })
  if (resources)
    throw new AppError('INVALID_SIGNATURE', { message: 'The message grants resources, and none are asked for' })
}

/** Loaded for the first sign-in by a wallet: it brings another library for chains. */
const loadSiwe = () => import('siwe')

export const nonceMilliseconds = 300_000
const keptMilliseconds = 900_000

/** Issues a nonce for the message of a wallet. A signed-in caller links that wallet. */
export async function issueNonce(address: string, now: number, caller: string | null = null): Promise<string> {
  const { generateNonce } = await loadSiwe()
  const nonce = generateNonce()
  const issued_at = new Date(now)
  const expires_at = new Date(now + keptMilliseconds)
  await Nonces.create({ _id: nonce, address, ...ownerOf(caller), issued_at, used: false, expires_at })
  return nonce
}

const ownerOf = (caller: string | null) => (caller === null ? {} : { account: caller })

/** The time of a nonce. Refuses one that this address may not use now; the nonce stays usable. */
export async function checkNonce(nonce: string, address: string, now: number): Promise<number> {
  const found = await Nonces.findOne({ _id: nonce }).lean<Nonce>()
  if (!found || found.used || !isSameAccount(found.address, address)) throw new AppError('INVALID_NONCE')
  if (now - found.issued_at.getTime() >= nonceMilliseconds) throw new AppError('NONCE_EXPIRED')
  return found.issued_at.getTime()
}

/** Uses a nonce up. Of simultaneous calls exactly one succeeds. */
export async function consumeNonce(nonce: string, address: string, caller: string | null = null): Promise<void> {
  const $set = { used: true, ...ownerOf(caller) }
  const taken = await Nonces.findOneAndUpdate({ _id: nonce, address, used: false }, { $set }).lean()
  if (!taken) throw new AppError('INVALID_NONCE')
}

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

/** The purpose of a signed message: its statement, and its own nonces. */
export interface Purpose {
  statement: string
  /** Is the statement valid for this purpose? */
  isFit(statement: string | undefined): boolean
  nonceFor(node: Node, address: string, caller: string | null): string | Promise<string>
  /** The time of a nonce. Refuses one that this address may not use now; the nonce stays usable. */
  checkNonce(node: Node, nonce: string, address: string): number | Promise<number>
}

const signInPurpose: Purpose = {
  statement: signInStatement,
  isFit: isSignInStatement,
  nonceFor: (node, address, caller) => issueNonce(address, node.now(), caller),
  checkNonce: (node, nonce, address) => checkNonce(nonce, address, node.now()),
}

/** A message for this wallet to sign, with a new nonce. */
export async function writeMessage(
  { node, origin, caller }: WalletRequest,
  address: string,
  chainId: number | undefined,
  purpose = signInPurpose,
) {
  const siwe = siweSettings.of(node)
  const chain = chainId ?? siwe.defaultChainId
  refuseOtherChains(siwe.chainIds, chain)
  const now = node.now()
  const nonce = await purpose.nonceFor(node, address, caller.account)
  const [site] = sitesOf({ node, origin })
  const { SiweMessage } = await loadSiwe()
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
  asked: WalletRequest,
  raw: string,
  address: string,
  signature: string,
): Promise<{ chainId: number }> {
  const { chainId, nonce } = await checkMessage(asked, raw, address, signature)
  await consumeNonce(nonce, address, asked.caller.account)
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
  const message = await readMessage(raw, address)
  if (!isForUs(asked, message)) throw new AppError('INVALID_DOMAIN')
  checkWords(message, purpose.isFit)
  refuseOtherChains(siwe.chainIds, message.chainId)
  const nonceAt = await purpose.checkNonce(node, message.nonce, address)
  checkTimes(message, nonceAt, node.now())
  await checkSignature(node.services.chains.get(message.chainId), message.address, raw, signature, askChain)
  return message
}

/** The fields of a message in exactly the standard's form. */
export async function readMessage(raw: string, address: string): Promise<SiweMessage> {
  const { SiweMessage } = await loadSiwe()
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
