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
  expirationTime?: string | undefined
  notBefore?: string | undefined
}

/** Refuses a message outside of the times it sets itself. */
export function checkTimes({ expirationTime, notBefore }: Times, now: number): void {
  if (expirationTime && !(Date.parse(expirationTime) > now)) throw new AppError('NONCE_EXPIRED')
  if (notBefore && !(Date.parse(notBefore) <= now)) throw new AppError('INVALID_SIGNATURE')
}
