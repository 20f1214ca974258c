import { AppError } from '#shared/errors'
import { mayBeShown, publicUrl } from './guarded.ts'
import type { Web, WebAnswer, WebRequest } from './port.ts'

/** A page: its HTML, or an answer in full. `silent` never comes. */
export type Page = string | 'silent' | { status?: number; headers?: Record<string, string>; body: string | Uint8Array }

export interface FakeWeb extends Web {
  /** By their URLs. What is not here is 404 at a host that has some, and no answer at others. */
  pages: Map<string, Page | ((request: WebRequest) => Page | Promise<Page>)>
  /** The requests in order. */
  asked: { url: string; request: WebRequest }[]
}

/** A web in memory. */
export function fakeWeb(pages: Readonly<Record<string, Page>> = {}): FakeWeb {
  const web: FakeWeb = {
    pages: new Map(Object.entries(pages)),
    asked: [],
    check: (url) => publicUrl(url, null),
    isPublic: mayBeShown,
    async ask(given, request = {}) {
      const url = publicUrl(given, null)
      web.asked.push({ url: url.href, request })
      request.signal?.throwIfAborted()
      const found = web.pages.get(url.href)
      const page = typeof found === 'function' ? await found(request) : found
      if (page === 'silent') throw new AppError('TIMEOUT')
      if (page !== undefined) return answerOf(url, page, request)
      if (![...web.pages.keys()].some((known) => new URL(known).host === url.host)) throw new AppError('UPSTREAM_ERROR')
      return answerOf(url, { status: 404, body: 'Not found' }, request)
    },
  }
  return web
}

const html = { 'content-type': 'text/html; charset=utf-8' }

function answerOf(url: URL, page: Exclude<Page, 'silent'>, request: WebRequest): WebAnswer {
  const { maxBytes = 2 * 1024 * 1024, onlyStatus } = request
  const { status = 200, headers = html, body } = typeof page === 'string' ? { body: page } : page
  const bytes = Buffer.from(onlyStatus ? '' : body)
  if (bytes.byteLength > maxBytes) throw new AppError('UPSTREAM_ERROR')
  return { status, url: url.href, headers, body: bytes }
}
