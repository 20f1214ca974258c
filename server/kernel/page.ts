import { existsSync, openSync, readSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Request, Response } from 'express'
import { errorHeaders } from '#shared/errors'
import { pageAt } from '#shared/kit/pages'
import { byteRangeOf } from './http/byte-range.ts'
import { forbidScripts } from './http/http-headers.ts'
import type { RawRoute } from './http/raw-route.ts'

const packed = fileURLToPath(new URL('../../dist/page/page.pack', import.meta.url))

/** A file in one coding, as a part of the pack. */
interface Encoded {
  coding: 'br' | 'gzip' | null
  at: number
  size: number
  etag: string
}

/** Of each file, from the smallest coding to the plain one. */
type Page = ReadonlyMap<string, readonly Encoded[]>

type ReadPart = (from: number, size: number) => Buffer

/**
 * The web app as built. Its files are parts of one that stays open. They therefore fit each other and the server after
 * the next build, and take no memory.
 */
export function pageRoutes(): readonly RawRoute[] {
  if (!existsSync(packed)) return []
  const { page, read } = openPage()
  return [{ path: '/{*path}', answer: 'file', give: servePage(page, read), has: (path) => page.has(fileAt(path)) }]
}

/** The pack begins with the length of its list in digits, and the list. */
function openPage(): { page: Page; read: ReadPart } {
  const file = openSync(packed, 'r')
  const read: ReadPart = (from, size) => {
    const part = Buffer.allocUnsafe(size)
    if (readSync(file, part, 0, size, from) !== size) throw new Error(`${packed} is not whole`)
    return part
  }
  const length = Number(read(0, lengthDigits).toString())
  const listed: [path: string, codings: Encoded[]][] = JSON.parse(read(lengthDigits, length).toString())
  const page = new Map(listed)
  page.set('/', page.get('/index.html') ?? [])
  return { page, read: (from, size) => read(lengthDigits + length + from, size) }
}

const lengthDigits = 8

/** The file at a path. Each path of a page has the file that opens the page. */
const fileAt = (path: string) => (pageAt(path) ? '/' : path)

/** A navigation to an unknown path gets the page with the status 404. Any other request gets the error as JSON. */
const seeksPage = (request: Request) =>
  /\btext\/html\b/.test(request.get('accept') ?? '') && !/^\/(api|assets|docs|dev|files)(\/|$)/i.test(request.path)

/** Assets have hashes in their names and are cached permanently; other files are revalidated. */
const servePage =
  (page: Page, read: ReadPart) =>
  (request: Request, response: Response): boolean => {
    const name = fileAt(request.path)
    const isMissing = !page.has(name) && seeksPage(request)
    const file = page.get(isMissing ? '/' : name)
    const chosen = file?.find(({ coding }) => coding === null || request.acceptsEncodings(coding))
    if (!chosen) return false
    const { coding, at, size, etag } = chosen
    const ending = name === '/' || isMissing ? '.html' : extname(name) || '.html'
    if (ending !== '.html') forbidScripts(response)
    response.vary('Accept-Encoding')
    if (isMissing) response.status(404).vary('Accept').setHeader(errorHeaders.code, 'NOT_FOUND')
    response.setHeader('ETag', etag)
    response.setHeader('Accept-Ranges', 'bytes')
    const isHashed = request.path.startsWith('/assets/')
    response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    if (!isMissing && request.fresh) {
      response.status(304).end()
      return true
    }

    const range = isMissing ? null : byteRangeOf(request, etag, size)
    if (range === 'beyond') {
      response.removeHeader('ETag')
      response.setHeader('Cache-Control', 'no-store')
      response.setHeader('Content-Range', `bytes */${size}`)
      response.status(416).end()
      return true
    }
    if (range) response.status(206).setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
    if (coding) response.setHeader('Content-Encoding', coding)
    response
      .type(ending)
      .send(range ? read(at + range.start, Math.min(range.end + 1, size) - range.start) : read(at, size))
    return true
  }
