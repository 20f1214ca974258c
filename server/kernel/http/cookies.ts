import { parseCookie } from 'cookie'
import type { Request, Response } from 'express'
import { AppError } from '#shared/errors'

/** Documented, so that clients know it at every origin. */
const sessionCookie = 'app_session'
/** Identifies a browser, whatever account is signed in. */
const browserCookie = 'app_browser'
/** Sent by a browser that returns from another site. */
const returnCookie = 'app_return'

const usualPort = '3000'

/** Browsers share cookies among all ports of a host, so an unusual port is part of the name. */
function nameAt(name: string, origin: string): string {
  const port = /:(\d+)$/.exec(origin)?.[1] ?? usualPort
  return port === usualPort ? name : `${name}_${port}`
}

const namesAt = (name: string, origin: string) => [...new Set([nameAt(name, origin), name])]

/** The value of a cookie, by its name with the port or by the name of older versions. */
function cookieIn(cookies: string | undefined, name: string, origin: string): string | null {
  const brought = parseCookie(cookies ?? '')
  return namesAt(name, origin).flatMap((one) => brought[one] ?? [])[0] ?? null
}

/** The session in the cookies of a handshake. */
export const sessionOf = (cookies: string | undefined, origin: string): string | null =>
  cookieIn(cookies, sessionCookie, origin)

/** The session in the cookies of a request; throws if there are two. */
export function sessionIn(cookies: string | undefined, origin: string): string | null {
  const pairs = (cookies ?? '').split(';').map((pair) => pair.trim())
  for (const name of namesAt(sessionCookie, origin)) {
    const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
    if (found.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'More than one session cookie' })
    if (found[0] !== undefined) return parseCookie(found[0])[name] ?? null
  }
  return null
}

/** The id of the browser that sends these cookies. */
export function browserIdOf(cookies: string | undefined, origin: string): string | null {
  const id = cookieIn(cookies, browserCookie, origin) ?? ''
  return /^[\w-]{43}$/.test(id) ? id : null
}

const attributes = { httpOnly: true, secure: true, sameSite: 'strict', path: '/' } as const
const sessionMilliseconds = 604_800_000
const yearMilliseconds = 31_536_000_000
const returnMilliseconds = 600_000

interface Keeping {
  request: Request
  response: Response
  origin: string
}

/**
 * Sets or clears the session cookie. It also does so by the documented name, unless another installation on this host
 * uses it.
 */
export function keepSession({ request, response, origin }: Keeping, token: string | null, isSignedIn: boolean): void {
  const own = nameAt(sessionCookie, origin)
  const brought = parseCookie(request.get('cookie') ?? '')
  const [here, documented] = [brought[own], brought[sessionCookie]]
  const isOurs = documented === undefined || documented === here || (here === undefined && isSignedIn)
  const maxAge = token === null ? 0 : sessionMilliseconds
  for (const name of namesAt(sessionCookie, origin).reverse())
    if (name === own || isOurs) response.cookie(name, token ?? '', { ...attributes, maxAge })
}

export const keepBrowser = ({ response, origin }: Keeping, id: string) =>
  response.cookie(nameAt(browserCookie, origin), id, { ...attributes, maxAge: yearMilliseconds })

/** Other cookies are strict, so a browser omits them when it returns from another site. This one alone is sent. */
export const keepReturn = ({ response, origin }: Keeping, value: string, path: string) =>
  response.cookie(nameAt(returnCookie, origin), value, {
    ...attributes,
    sameSite: 'lax',
    path,
    maxAge: returnMilliseconds,
  })

/** The value of `keepReturn` in these cookies. */
export const returnCookieOf = (cookies: string | undefined, origin: string): string | null =>
  cookieIn(cookies, returnCookie, origin)
