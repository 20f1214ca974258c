import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

export type Headers = readonly (readonly [name: string, value: string])[]

export function setHeaders(response: ServerResponse, headers: Headers): void {
  for (const [name, value] of headers) response.setHeader(name, value)
}

/**
 * Those of every answer. Pictures and sound come from here, from where media are stored, and from what the page itself has opened (`blob:`);
 * connections go to this very host and to stored media. Livestreams may be shown by other sites, which `shownAt` names.
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
        // Older browsers do not take WebSockets of the same host for 'self'.
        connectSrc: ["'self'", new URL(publicUrl).origin.replace(/^http/, 'ws'), stored, ...shown],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginEmbedderPolicy: false,
    // For plug-ins and browsers that no longer exist.
    xDownloadOptions: false,
    xXssProtection: false,
    xPermittedCrossDomainPolicies: false,
  })
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  guard(response.req, response, () => undefined)
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)])
}

/** A source of the Content-Security-Policy for everything below an address: a storage host may be shared by many customers. */
function sourceOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/[;,']/g, encodeSign)}`.replace(/\/?$/, '/')
}
const encodeSign = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`

/** The policy of what is no document: even where a browser opens it by itself, it loads and runs nothing. */
const nothing = ['Content-Security-Policy', "default-src 'none';frame-ancestors 'none'"] as const
export const nothingRuns = (response: ServerResponse): void => void response.setHeader(...nothing)

/** Answers of the API are kept nowhere. */
export const ofData: Headers = [['Cache-Control', 'no-store'], nothing]

/** Of what is refused before it is known whether it asked for data. */
export const headersOfRefusals = (settings: Parameters<typeof securityHeaders>[0]): Headers => [
  ...securityHeaders(settings, []),
  ...ofData,
]
