import { parseCookie } from 'cookie'
import type { Request, Response } from 'express'
import { AppError } from '#shared/errors'

/** Documented: clients that know it find it at every origin. */
const sessionCookie = 'app_session'
/** Tells one browser from another, whoever is signed in there. */
const browserCookie = 'app_browser'
/** What a browser brings when it comes back from a site to which we have sent it. */
const returnCookie = 'app_return'

const usualPort = '3000'

/** Browsers give the cookies of a host to all of its ports, so that those of a port of its own have it in their names. */
function nameAt(name: string, origin: string): string {
  const port = /:(\d+)$/.exec(origin)?.[1] ?? usualPort
  return port === usualPort ? name : `${name}_${port}`
}

const namesAt = (name: string, origin: string) => [...new Set([nameAt(name, origin), name])]

/** The value of a cookie, by its name here or, where it has none, by the one that older versions gave it everywhere. */
function cookieIn(cookies: string | undefined, name: string, origin: string): string | null {
  const brought = parseCookie(cookies ?? '')
  return namesAt(name, origin).flatMap((one) => brought[one] ?? [])[0] ?? null
}

/** The session that a browser sends with the handshake of a connection. */
export const sessionOf = (cookies: string | undefined, origin: string): string | null =>
  cookieIn(cookies, sessionCookie, origin)

/** The session that a browser sends with a request; throws where it sends two. */
export function sessionIn(cookies: string | undefined, origin: string): string | null {
  const pairs = (cookies ?? '').split(';').map((pair) => pair.trim())
  for (const name of namesAt(sessionCookie, origin)) {
    const found = pairs.filter((pair) => pair.startsWith(`${name}=`))
    if (found.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'More than one session cookie' })
    if (found[0] !== undefined) return parseCookie(found[0])[name] ?? null
  }
  return null
}

/** The browser that sends these cookies, where it was given an id before. */
export function browserOf(cookies: string | undefined, origin: string): string | null {
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

/** Sets the session, or takes it away. By its documented name as well, unless another installation on this host has one there. */
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

/** The others stay behind where another site leads here: this one does not, and is good for nothing else. */
export const keepReturn = ({ response, origin }: Keeping, value: string, path: string) =>
  response.cookie(nameAt(returnCookie, origin), value, {
    ...attributes,
    sameSite: 'lax',
    path,
    maxAge: returnMilliseconds,
  })

/** What `keepReturn` has given to the browser that sends these cookies. */
export const returnOf = (cookies: string | undefined, origin: string): string | null =>
  cookieIn(cookies, returnCookie, origin)
