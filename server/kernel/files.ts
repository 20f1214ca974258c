import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { isKey, isPrivate, type Storage } from '#server/ports/storage/port'
import { fileDispositionOf } from '#shared/kit/file-name'
import { fileTypeOf } from '#shared/kit/file-type'
import { byteRangeOf } from './http/byte-range.ts'
import type { RawRoute } from './http/raw-route.ts'

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
    const size = isKey(key) && !isPrivate(key) ? await storage.sizeOf(key) : null
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
      response.set({ ...headersOf(key), ETag: etag })
      response.status(304).end()
      return true
    }
    if (range === 'beyond') {
      // A refused range must not be cached as the file.
      response.set({ ...headers, 'Cache-Control': 'no-store', 'Content-Range': `bytes */${size}` })
      response.status(416).end()
      return true
    }
    response.set({ ...headersOf(key), ETag: etag })
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
