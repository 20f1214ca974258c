import type { Express, Request, Response } from 'express'
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
}

/** Puts routes behind the operations, in their order. Express answers HEAD by them, too. */
export function mountRaw(app: Express, routes: readonly RawRoute[]): void {
  for (const { path, answer, give, isLocal: isForHere } of routes)
    app.get(path, async (request, response, next) => {
      if (isForHere && !isLocal(request)) return next('route')
      if (answer !== 'file') response.type(answer)
      if (!(await give(request, response))) next('route')
    })
}
