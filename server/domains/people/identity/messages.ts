import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { siweSettings } from './settings.ts'

export const signInStatement = 'Sign in to Plaza.'

type MessageRequest = Pick<Context, 'node' | 'origin'>
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
