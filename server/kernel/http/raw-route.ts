import type { Express, Request, Response } from 'express'
import { isLocalRequest } from '#server/kernel/addresses'
import { AppError } from '#shared/errors'

/** A route that is no operation; it reads no body and identifies no caller. */
export interface RawRoute {
  /** One path, or `/{*path}` for all paths without another route. */
  path: `/${string}`
  answer: 'file' | 'html' | 'json'
  /** Only for this machine; for others the path does not exist. */
  isLocal?: true
  /** False if it has nothing at this path: the next route follows. */
  give(request: Request, response: Response): boolean | Promise<boolean>
  /** For a route of all paths: does it have this one, and so answer 405 to other methods? */
  has?(path: string): boolean
}

/** Mounts routes behind the operations, in order. Express answers HEAD by them too. */
export function mountRaw(app: Express, routes: readonly RawRoute[]): void {
  for (const { path, answer, give, isLocal: isForHere, has } of routes) {
    app.get(path, async (request, response, next) => {
      if (isForHere && !isLocalRequest(request)) return next('route')
      if (answer !== 'file') response.type(answer)
      if (!(await give(request, response))) next('route')
    })
    app.all(path, (request, response, next) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead || (isForHere && !isLocalRequest(request)) || has?.(request.path) === false) return next('route')
      response.setHeader('Allow', 'GET, HEAD, OPTIONS')
      throw new AppError('METHOD_NOT_ALLOWED')
    })
  }
}
