import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { siweSettings } from './settings.ts'

export const statement = 'Sign in to Plaza.'

type Asked = Pick<Context, 'node' | 'origin'>
interface Site {
  domain: string
  uri: string
}

const localHost = /^(localhost|127\.0\.0\.1)(:\d{1,5})?$/

/** What a message may be for: the configured site, and outside production the local one that was asked. */
export function sitesOf({ node, origin }: Asked): [Site, ...Site[]] {
  const { domain, uri } = siweSettings.of(node)
  const configured = { domain, uri }
  if (node.settings.production || origin === null || !localHost.test(origin)) return [configured]
  return [{ domain: origin, uri: `http://${origin}` }, configured]
}

/** Whether a message names us in its domain, in the address it leads to, and in the scheme where it has one. */
export function isForUs(asked: Asked, { domain, uri, scheme }: Site & { scheme?: string | undefined }): boolean {
  const site = sitesOf(asked).find((one) => one.domain === domain)
  if (!site || !URL.canParse(uri)) return false
  const { origin, protocol } = new URL(site.uri)
  return new URL(uri).origin === origin && (scheme === undefined || `${scheme}:` === protocol)
}

interface Times {
  issuedAt?: string | undefined
  expirationTime?: string | undefined
  notBefore?: string | undefined
}

/** How far the clocks of wallets may be ahead. */
const aheadMilliseconds = 300_000

/** Refuses a message outside of the times it sets itself, and one that was made in the future. */
export function checkTimes({ issuedAt, expirationTime, notBefore }: Times, now: number): void {
  if (expirationTime && !(Date.parse(expirationTime) > now)) throw new AppError('NONCE_EXPIRED')
  if (notBefore && !(Date.parse(notBefore) <= now)) throw new AppError('INVALID_SIGNATURE')
  if (issuedAt && !(Date.parse(issuedAt) <= now + aheadMilliseconds)) throw new AppError('INVALID_SIGNATURE')
}

interface Words {
  statement?: string | undefined
  resources?: unknown
}

/** Does a statement say that its signer signs in? Clients may word it themselves, or leave it out. */
export const isOfSignIn = (statement: string | undefined): boolean => !statement || /^sign[ -]?in\b/i.test(statement)

/** Refuses a message whose words are of something else, or that grants something: resources are rights at other places (ERC-5573). */
export function checkWords({ statement, resources }: Words, isFit: (statement: string | undefined) => boolean): void {
  if (!isFit(statement)) throw new AppError('INVALID_SIGNATURE', { message: 'The message is of something else' })
  if (resources)
    throw new AppError('INVALID_SIGNATURE', { message: 'The message grants resources, and none are asked for' })
}
