import type { Services } from '#server/kernel/context'
import type { ReadDocument, Turn } from '#server/ports/reader/port'
import type { WebAnswer } from '#server/ports/web/port'

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
