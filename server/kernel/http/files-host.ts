import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Settings } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { forbidScripts } from './http-headers.ts'

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
