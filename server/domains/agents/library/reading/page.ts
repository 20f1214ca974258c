import type { Services } from '#server/kernel/context'
import type { ReadDocument, Turn } from '#server/ports/reader/port'
import type { WebAnswer } from '#server/ports/web/port'
import { cut } from '#shared/kit/cut'

export type ScrapeMethod = 'basic' | 'advanced'

/** HTTP validators of a document. */
export interface Validators {
  etag: string | null
  modified: string | null
}

export interface ReadPage {
  /** After redirects. */
  url: string
  title: string | null
  text: string
  /** Complete URLs. */
  links: readonly string[]
  /** The next page of a list, if named. */
  next: string | null
  validators: Validators
}

/** Why a page cannot be used, for the owner. */
export class UnusablePage extends Error {
  override readonly name = 'UnusablePage'
}

type Reading = Pick<Services, 'web' | 'reader'>

/** Reads a page for an agent (`of`), in turns; null if the validators still match. */
export async function readPage(
  { web, reader }: Reading,
  url: string,
  scrape: ScrapeMethod,
  known: Validators | null,
  { of, signal }: Turn,
): Promise<ReadPage | null> {
  const headers = {
    accept: 'text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf;q=0.9,*/*;q=0.1',
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.modified ? { 'if-modified-since': known.modified } : {}),
  }
  const answer = await web.ask(url, { headers, signal })
  if (known && answer.status === 304) return null
  if (answer.status !== 200) throw new UnusablePage(`The page answered with status ${answer.status}`)
  const { title, text, links, base, next } = await documentOf(reader, answer, scrape, { of, signal })
  const from = resolved(base ?? '', answer.url) ?? answer.url
  return {
    url: answer.url,
    title,
    text,
    links: links.flatMap((href) => resolved(href, from) ?? []),
    next: next === undefined ? null : resolved(next, from),
    validators: { etag: answer.headers.etag ?? null, modified: answer.headers['last-modified'] ?? null },
  }
}

function documentOf(
  reader: Reading['reader'],
  { url, headers, body }: WebAnswer,
  scrape: ScrapeMethod,
  turn: Turn,
): Promise<ReadDocument> {
  const declared = { type: headers['content-type'] ?? '', path: new URL(url).pathname }
  const kind = declared.type.toLowerCase().split(';')[0]?.trim() ?? ''
  if (kind === 'application/pdf' || startsWith(body, '%PDF-')) return reader.read('pdf', body, declared, turn)
  if (kind !== '' && !/^(text\/|application\/((.+\+)?(xml|json)|xhtml\+xml|markdown|octet-.+)$)/.test(kind))
    throw new UnusablePage(`The page is no text, but ${kind.slice(0, 60)}`)
  return reader.read(scrape === 'advanced' ? 'article' : 'page', body, declared, turn)
}

const startsWith = (body: Uint8Array, mark: string) =>
  Buffer.from(body.subarray(0, mark.length)).toString('latin1') === mark

function resolved(href: string, base: string): string | null {
  try {
    const url = new URL(href, base)
    url.hash = ''
    return url.protocol === 'https:' ? url.href : null
  } catch {
    return null
  }
}

const longestTitle = 200
const hosts = ['github.com', 'gitlab.com', 'bitbucket.org']

type ContentType = 'webpage' | 'github' | 'docs'

/** A repository of a code host, or a file in it. */
interface Place {
  host: string
  owner: string
  name: string
  file: string | null
}

function placeOf({ hostname, pathname }: URL): Place | null {
  const host = hostname.replace(/^www\./, '')
  if (!hosts.includes(host)) return null
  const [owner, name, ...rest] = pathname.split('/').filter((part) => part !== '' && part !== '-')
  if (!owner || !name) return null
  const file = /^(blob|raw|src)$/.test(rest[0] ?? '') && rest.length > 2 ? rest.slice(1).join('/') : null
  return { host, owner, name: name.replace(/\.git$/, ''), file }
}

export function contentTypeOf(url: URL): ContentType {
  if (hosts.includes(url.hostname.replace(/^www\./, ''))) return 'github'
  return /\/\/docs\.|\/docs\/|documentation/i.test(url.href) ? 'docs' : 'webpage'
}

/** The default title of an item. */
export function titleOf(url: URL): string {
  const place = placeOf(url)
  if (place) return `${place.owner}/${place.name}`
  const last = url.pathname.split('/').filter(Boolean).at(-1) ?? ''
  const words = decoded(last).replace(/[-_]+/g, ' ').trim()
  return cut(words, longestTitle) || url.hostname
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The raw URL of a repository's text; null for other URLs. */
export function rawUrlOf(url: URL): string | null {
  const place = placeOf(url)
  if (!place) return null
  const { host, owner, name, file } = place
  const path = file ?? 'HEAD/README.md'
  if (host === 'github.com') return `https://raw.githubusercontent.com/${owner}/${name}/${path}`
  return `https://${host}/${owner}/${name}/${host === 'gitlab.com' ? '-/' : ''}raw/${path}`
}

/** The raw root of the repository, within which links are read. */
export function rawRootOf(raw: string): string {
  const { origin, pathname } = new URL(raw)
  const parts = pathname.split('/')
  const end = origin === 'https://raw.githubusercontent.com' ? 4 : parts.indexOf('raw') + 2
  return `${origin}${parts.slice(0, end).join('/')}/`
}
