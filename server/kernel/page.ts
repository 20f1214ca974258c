import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Request, Response } from 'express'
import { errorHeaders } from '#shared/errors'
import { pageAt } from '#shared/kit/pages'
import { byteRangeOf } from './http/byte-range.ts'
import { forbidScripts } from './http/http-headers.ts'
import type { RawRoute } from './http/raw-route.ts'

const folder = fileURLToPath(new URL('../../dist/page', import.meta.url))

/** From the smallest encoding to the plain file. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
  [null, ''],
] as const

interface Encoded {
  coding: (typeof codings)[number][0]
  body: Buffer
  etag: string
}

/** The web app as built, read at the start, so that its parts fit each other and the server. */
export function pageRoutes(): readonly RawRoute[] {
  if (!existsSync(join(folder, 'index.html'))) return []
  const page = readPage()
  return [{ path: '/{*path}', answer: 'file', give: servePage(page), has: (path) => page.has(fileAt(path)) }]
}

type Page = ReadonlyMap<string, readonly Encoded[]>

function readPage(): Page {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !/\.(br|gz)$/.test(file.name))
    .map((file) => join(file.parentPath, file.name))
  const page = new Map(
    paths.map((path) => [`/${relative(folder, path).split(sep).join('/')}`, codings.flatMap(readEncoded(path))]),
  )
  return page.set('/', page.get('/index.html') ?? [])
}

const readEncoded =
  (path: string) =>
  ([coding, ending]: (typeof codings)[number]): readonly Encoded[] => {
    if (!existsSync(`${path}${ending}`)) return []
    const body = readFileSync(`${path}${ending}`)
    return [{ coding, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` }]
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
