import type { Express } from 'express'
import { isLocalRequest } from '#server/kernel/addresses'

/** Passkeys belong to a name, never to an address: a page at a local address is redirected to `localhost`. */
export function redirectToLocalhost(app: Express, publicUrl: string): void {
  if (new URL(publicUrl).hostname !== 'localhost') return
  app.get('/{*path}', (request, response, next) => {
    const address = /^(?:127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.exec(request.get('host') ?? '')
    const isPage = /\btext\/html\b/.test(request.get('accept') ?? '') && /^\/(?!api\/)/i.test(request.originalUrl)
    if (!address || !isPage || !isLocalRequest(request)) return next()
    response.setHeader('Cache-Control', 'no-store')
    response.redirect(302, `http://localhost${address[1] ?? ''}${request.originalUrl}`)
  })
}
