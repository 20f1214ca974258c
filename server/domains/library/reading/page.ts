import type { Services } from '#server/kernel/context'
import type { ReadDocument } from '#server/ports/reader/port'
import { textOf, type WebAnswer } from '#server/ports/web/port'

export type ScrapeMethod = 'basic' | 'advanced'

/** By which a server tells whether a document is still the one we have. */
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
  validators: Validators
}

/** Why a page cannot be used, in words for its owner. */
export class UnusablePage extends Error {
  override readonly name = 'UnusablePage'
}

type Reading = Pick<Services, 'web' | 'reader'>

/** Reads one page; null where it is still what the validators name. */
export async function readPage(
  { web, reader }: Reading,
  url: string,
  scrape: ScrapeMethod,
  known: Validators | null,
  signal: AbortSignal,
): Promise<ReadPage | null> {
  const headers = {
    accept: 'text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf;q=0.9,*/*;q=0.1',
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.modified ? { 'if-modified-since': known.modified } : {}),
  }
  const answer = await web.ask(url, { headers, signal })
  if (known && answer.status === 304) return null
  if (answer.status !== 200) throw new UnusablePage(`The page answered with status ${answer.status}`)
  const { title, text, links, base } = await documentOf(reader, answer, scrape)
  const from = resolved(base ?? '', answer.url) ?? answer.url
  return {
    url: answer.url,
    title,
    text,
    links: links.flatMap((href) => resolved(href, from) ?? []),
    validators: { etag: answer.headers.etag ?? null, modified: answer.headers['last-modified'] ?? null },
  }
}

function documentOf(reader: Reading['reader'], answer: WebAnswer, scrape: ScrapeMethod): Promise<ReadDocument> {
  const { pathname } = new URL(answer.url)
  const [type = ''] = (answer.headers['content-type'] ?? '').toLowerCase().split(';')
  const kind = type.trim()
  if (kind === 'application/pdf' || startsWith(answer.body, '%PDF-')) return reader.read('pdf', answer.body)
  if (kind !== '' && !/^(text\/|application\/((.+\+)?(xml|json)|xhtml\+xml|markdown|octet-.+)$)/.test(kind))
    throw new UnusablePage(`The page is no text, but ${kind.slice(0, 60)}`)
  if (answer.body.subarray(0, 4_096).includes(0)) throw new UnusablePage('The page is no text')
  const text = textOf(answer)
  if (/markdown/.test(kind) || /\.(md|mdx|markdown)$/i.test(pathname)) return reader.read('markdown', text)
  if (/html/.test(kind) || (!/^text\/plain|json|xml$/.test(kind) && /^\s*<(!doctype|html)/i.test(text)))
    return reader.read(scrape === 'advanced' ? 'article' : 'page', text)
  return reader.read('text', text)
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
