import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import helmet from 'helmet'
import type { Settings } from '#server/kernel/context'
import { AppError } from '#shared/errors'

export type Headers = readonly (readonly [name: string, value: string])[]

export function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const [name, value] of headers) response.setHeader(name, value)
}

/**
 * The headers of every answer. Images and sound come from here, stored media or `blob:`; connections go to this host
 * and stored media. Livestreams may also come from `shownAt`.
 */
export function securityHeaders(
  { publicUrl, storageUrl }: { publicUrl: string; storageUrl: string },
  shownAt: readonly string[],
): Headers {
  const stored = sourceOf(storageUrl)
  const shown = shownAt.filter((origin) => URL.canParse(origin)).map((origin) => new URL(origin).origin)
  const guard = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:', stored],
        mediaSrc: ["'self'", 'blob:', stored, ...shown],
        // For older browsers, 'self' does not include WebSockets.
        connectSrc: ["'self'", new URL(publicUrl).origin.replace(/^http/, 'ws'), stored, ...shown],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginEmbedderPolicy: false,
    // These concern plug-ins and obsolete browsers.
    xDownloadOptions: false,
    xXssProtection: false,
    xPermittedCrossDomainPolicies: false,
  })
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  guard(response.req, response, () => undefined)
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)])
}

/** A CSP source for all URLs below an address: customers may share a storage host. */
function sourceOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/[;,']/g, encodeSign)}`.replace(/\/?$/, '/')
}
const encodeSign = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`

/** The policy of answers that are no document: even a direct visit loads and runs nothing. */
const nothing = ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"] as const
export const forbidScripts = (response: ServerResponse): void => void response.setHeader(...nothing)

/** API answers are never cached. */
export const dataHeaders: Headers = [['Cache-Control', 'no-store'], nothing]

/** The headers of a refusal whose type of answer is still unknown. */
export const headersOfRefusals = (settings: Parameters<typeof securityHeaders>[0]): Headers => [
  ...securityHeaders(settings, []),
  ...dataHeaders,
]

/** The origins from which browsers may call, compared exactly; never `null`. */
export const originRule = (allowed: readonly string[]) => {
  const exact = new Set(allowed)
  return {
    /** A request without both headers comes from no browser. */
    allows(origin: string | undefined, fetchSite: string | undefined): boolean {
      if (origin !== undefined) return exact.has(origin)
      return fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none'
    },
    has: (origin: string) => exact.has(origin),
  }
}
export type OriginRule = ReturnType<typeof originRule>

type FilesHostSetting = Pick<Settings, 'filesHost'>

/** Is the request for the host name that serves files alone? */
export const isForFiles = ({ filesHost }: FilesHostSetting, { headers }: IncomingMessage): boolean =>
  filesHost !== null && (headers.host ?? '').replace(/:\d*$/, '').toLowerCase() === filesHost

/**
 * A separate host name for files serves nothing else, and no other host serves files. Pages and files thus share no
 * origin.
 */
export const separateFilesHost =
  (settings: FilesHostSetting): RequestHandler =>
  (request, response, next) => {
    // Paths match in any case.
    if (settings.filesHost === null || isForFiles(settings, request) === /^\/files\//i.test(request.path)) return next()
    forbidScripts(response)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    throw new AppError('NOT_FOUND')
  }
