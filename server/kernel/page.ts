import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Request, Response } from 'express'
import { byteRangeOf } from './byte-range.ts'
import { forbidScripts } from './http-headers.ts'
import type { RawRoute } from './raw-route.ts'

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

/** URLs of an invitation, an agent, a meeting or calls open the page, which handles them. */
const isOfPage = /^\/(invite|agents|room|schedule|join)\/[^/]+$/
const fileAt = (path: string) => (isOfPage.test(path) ? '/' : path)

/** Assets have hashes in their names and are cached permanently; other files are revalidated. */
const servePage =
  (page: Page) =>
  (request: Request, response: Response): boolean => {
    const file = page.get(fileAt(request.path))
    const chosen = file?.find(({ coding }) => coding === null || request.acceptsEncodings(coding))
    if (!chosen) return false
    const { coding, body, etag } = chosen
    const ending = isOfPage.test(request.path) ? '.html' : extname(request.path) || '.html'
    if (ending !== '.html') forbidScripts(response)
    response.vary('Accept-Encoding')
    response.setHeader('ETag', etag)
    response.setHeader('Accept-Ranges', 'bytes')
    const isHashed = request.path.startsWith('/assets/')
    response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    if (request.fresh) {
      response.status(304).end()
      return true
    }

    const range = byteRangeOf(request, etag, body.length)
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
