import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { AppError } from '#shared/errors'
import type { Settings } from './context.ts'
import { nothingRuns } from './http-headers.ts'

type Apart = Pick<Settings, 'filesHost'>

/** Is this asked of the name that serves files alone? */
export const isForFiles = ({ filesHost }: Apart, { headers }: IncomingMessage): boolean =>
  filesHost !== null && (headers.host ?? '').replace(/:\d*$/, '').toLowerCase() === filesHost

/** Where files have a name of their own, nothing else is there, and they are nowhere else: no page of ours shares an origin with them. */
export const keepFilesApart =
  (settings: Apart): RequestHandler =>
  (request, response, next) => {
    // Paths are matched in any case.
    if (settings.filesHost === null || isForFiles(settings, request) === /^\/files\//i.test(request.path)) return next()
    nothingRuns(response)
    response.setHeader('X-Content-Type-Options', 'nosniff')
    throw new AppError('NOT_FOUND')
  }
