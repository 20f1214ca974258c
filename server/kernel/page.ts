import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { Request, Response } from 'express'
import { isKey, isPrivate, type Storage } from '#server/ports/storage/port'
import { errorHeaders } from '#shared/errors'
import { fileDispositionOf, fileTypeOf } from '#shared/kit/file-name'
import { pageAt } from '#shared/kit/pages'
import { forbidScripts } from './http/http-headers.ts'
import type { RawRoute } from './http/raw-route.ts'

const packed = fileURLToPath(new URL('../../dist/page/page.pack', import.meta.url))

/** A file in one coding. */
interface Encoded {
  coding: 'br' | 'gzip' | null
  body: Buffer
  etag: string
}

/** The web app as built, read at the start, so that its parts fit each other and the server. */
export function pageRoutes(): readonly RawRoute[] {
  if (!existsSync(packed)) return []
  const page = readPage()
  return [{ path: '/{*path}', answer: 'file', give: servePage(page), has: (path) => page.has(fileAt(path)) }]
}

/** Of each file the codings, from the smallest to the plain one. */
type Page = ReadonlyMap<string, readonly Encoded[]>

/** As `scripts/pack-page.mjs` writes it. */
function readPage(): Page {
  const pack = readFileSync(packed)
  const listAt = 8
  const bodiesAt = listAt + Number(pack.toString('latin1', 0, listAt))
  const listed: [path: string, parts: (Omit<Encoded, 'body'> & { at: number; size: number })[]][] = JSON.parse(
    pack.toString('utf8', listAt, bodiesAt),
  )
  const bodyOf = (at: number, size: number) => pack.subarray(bodiesAt + at, bodiesAt + at + size)
  const page = new Map(
    listed.map(([path, parts]) => [
      path,
      parts.map(({ coding, at, size, etag }) => ({ coding, body: bodyOf(at, size), etag })),
    ]),
  )
  return page.set('/', page.get('/index.html') ?? [])
}

/** The file at a path. Each path of a page has the file that opens the page. */
const fileAt = (path: string) => (pageAt(path) ? '/' : path)

/** A navigation to an unknown path gets the page with the status 404. Any other request gets the error as JSON. */
const seeksPage = (request: Request) =>
  /\btext\/html\b/.test(request.get('accept') ?? '') && !/^\/(api|assets|docs|dev|files)(\/|$)/i.test(request.path)

/** Assets have hashes in their names and are cached permanently; other files are revalidated. */
const servePage =
  (page: Page) =>
  (request: Request, response: Response): boolean => {
    const name = fileAt(request.path)
    const isMissing = !page.has(name) && seeksPage(request)
    const file = page.get(isMissing ? '/' : name)
    const chosen = file?.find(({ coding }) => coding === null || request.acceptsEncodings(coding))
    if (!chosen) return false
    const { coding, body, etag } = chosen
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

    const range = isMissing ? null : byteRangeOf(request, etag, body.length)
    if (range === 'beyond') {
      response.removeHeader('ETag')
      response.setHeader('Cache-Control', 'no-store')
      response.setHeader('Content-Range', `bytes */${body.length}`)
      response.status(416).end()
      return true
    }
    if (range) response.status(206).setHeader('Content-Range', `bytes ${range.start}-${range.end}/${body.length}`)
    if (coding) response.setHeader('Content-Encoding', coding)
    response.type(ending).send(range ? body.subarray(range.start, range.end + 1) : body)
    return true
  }

/** The path below which stored files are public to anybody with their URL. */
export const filesPath = '/files/'

/** A stored file can run no code: pages embed it, and direct visits download it. */
const headers = {
  'Content-Disposition': 'attachment',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Access-Control-Allow-Origin': '*',
  'X-Robots-Tag': 'none',
  'Accept-Ranges': 'bytes',
  'Cache-Control': 'public, max-age=31536000, immutable',
}

/** Routes for the public blobs of a storage. A blob never changes, so clients may cache it permanently. */
export const fileRoutes = (storage: Storage | null): readonly RawRoute[] =>
  storage === null ? [] : [{ path: `${filesPath}{*key}`, answer: 'file', give: serveFile(storage) }]

const serveFile =
  (storage: Storage) =>
  async (request: Request, response: Response): Promise<boolean> => {
    const key = request.path.slice(filesPath.length)
    return isKey(key) && !isPrivate(key) && giveBlob(storage, key, headersOf(key), request, response)
  }

/** Answers with a blob or the requested part of it. False where there is none. */
export async function giveBlob(
  storage: Storage,
  key: string,
  about: Readonly<Record<string, string>>,
  request: Request,
  response: Response,
): Promise<boolean> {
  const size = await storage.sizeOf(key)
  if (size === null) return false
  const etag = `"${createHash('sha256').update(key).digest('base64url').slice(0, 27)}"`
  const range = byteRangeOf(request, etag, size)
  const isKnown = response.set('ETag', etag) && request.fresh
  response.removeHeader('ETag')
  const isSent = request.method !== 'HEAD' && !isKnown && range !== 'beyond'
  // Headers follow the read, because an error must not be cached permanently.
  const found = isSent ? await storage.read(key, range ?? undefined) : null
  if (isSent && !found) return false
  if (isKnown) {
    response.set({ ...about, ETag: etag })
    response.status(304).end()
    return true
  }
  if (range === 'beyond') {
    const { 'Content-Type': _, ...others } = about
    // A refused range must not be cached as the file.
    response.set({ ...others, 'Cache-Control': 'no-store', 'Content-Range': `bytes */${size}` })
    response.status(416).end()
    return true
  }
  response.set({ ...about, ETag: etag })
  if (range) response.status(206).set('Content-Range', `bytes ${range.start}-${range.end}/${size}`)
  response.set('Content-Length', String(range ? range.end - range.start + 1 : size))
  if (!found) {
    response.end()
    return true
  }
  // A reader may disconnect at any time.
  await pipeline(found.bytes, response).catch(() => response.destroy())
  return true
}

const headersOf = (key: string) => ({
  ...headers,
  'Content-Disposition': fileDispositionOf(key),
  'Content-Type': fileTypeOf(key),
})

/** The requested range of a file. Several ranges, or a range of another version, get the whole file. */
function byteRangeOf(request: Request, etag: string, size: number): { start: number; end: number } | 'beyond' | null {
  const wanted = request.get('if-range')
  if (request.method !== 'GET' || (wanted !== undefined && wanted !== etag)) return null
  // A range that ends before its start is invalid, so the whole file is sent (RFC 9110, 14.1.1).
  const [, first, last] = /^bytes=\s*(\d+)-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (first !== undefined && Number(last) < Number(first)) return null
  // A suffix longer than the file is the whole file (14.1.2).
  const [, suffix] = /^bytes=\s*-(\d+)\s*$/.exec(request.get('range') ?? '') ?? []
  if (suffix !== undefined && Number(suffix) >= size && size > 0) return { start: 0, end: size - 1 }
  const ranges = request.range(size)
  if (ranges === -1) return 'beyond'
  if (typeof ranges !== 'object' || ranges.type !== 'bytes' || ranges.length !== 1) return null
  return ranges[0] ?? null
}
