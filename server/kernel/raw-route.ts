import type { Express, Request, Response } from 'express'
import { AppError } from '#shared/errors'
import { isLocal } from './addresses.ts'

/** A route that gives something else than the answer of an operation. It reads no body and knows no caller. */
export interface RawRoute {
  /** One path, or `/{*path}` for every one that no other route has. */
  path: `/${string}`
  answer: 'file' | 'html' | 'json'
  /** For this very machine alone; to everybody else there is no such path. */
  isLocal?: true
  /** False where nothing of this path is here: the next route is asked. */
  give(request: Request, response: Response): boolean | Promise<boolean>
  /** Of a route for every path: which of them are its own, and so answer 405 to what does not read. */
  has?(path: string): boolean
}

/** Puts routes behind the operations, in their order. Express answers HEAD by them, too. */
export function mountRaw(app: Express, routes: readonly RawRoute[]): void {
  for (const { path, answer, give, isLocal: isForHere, has } of routes) {
    app.get(path, async (request, response, next) => {
      if (isForHere && !isLocal(request)) return next('route')
      if (answer !== 'file') response.type(answer)
      if (!(await give(request, response))) next('route')
    })
    app.all(path, (request, response, next) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      if (isRead || (isForHere && !isLocal(request)) || has?.(request.path) === false) return next('route')
      response.setHeader('Allow', 'GET, HEAD, OPTIONS')
      throw new AppError('METHOD_NOT_ALLOWED')
    })
  }
}
