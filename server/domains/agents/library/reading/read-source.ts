import { createHash } from 'node:crypto'
import type { Services } from '#server/kernel/context'
import type { Turn } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'
import { type ReadPage, readPage, type ScrapeMethod, UnusablePage, type Validators } from './page.ts'
import { rawRootOf, rawUrlOf } from './sources.ts'

export const mostPages = 50
const crawlMilliseconds = 120_000
const fewestCharacters = 100
const mostCharacters = 2_000_000

export interface Source {
  url: string
  scrape_method: ScrapeMethod
  /** 1: the page alone; 2: with linked pages. */
  crawl_depth: number
  exclude_patterns: readonly string[]
  /** Whether further pages of a list are read, and how many. */
  infinite_scroll?: boolean
  scroll_count?: number
}

/** The state of a source at its last reading. */
export interface KnownSource extends Validators {
  hash: string | null
}

export interface ReadSource extends KnownSource {
  /** Null if unchanged. */
  pages: readonly Pick<ReadPage, 'url' | 'title' | 'text'>[] | null
}

/** Reads a page, linked pages of its origin, or documents of a repository. Throws UnusablePage without any text. */
export async function readSource(
  services: Pick<Services, 'web' | 'reader'>,
  source: Source,
  known: KnownSource | null,
  turn: Turn,
  progress: (pages: number) => void = () => {},
): Promise<ReadSource> {
  const raw = rawUrlOf(new URL(source.url))
  const isAdvanced = !raw && source.scrape_method === 'advanced'
  const depth = raw ? 2 : isAdvanced ? source.crawl_depth : 1
  const scrolls = isAdvanced && source.infinite_scroll ? (source.scroll_count ?? 0) : 0
  const begun = performance.now()
  const read = async (url: string, validators: Validators | null) =>
    readPage(services, url, source.scrape_method, validators, turn)
  const first = await read(raw ?? source.url, depth === 1 && scrolls === 0 ? known : null)
  if (first === null)
    return { pages: null, etag: known?.etag ?? null, modified: known?.modified ?? null, hash: known?.hash ?? null }
  progress(1)

  const within = raw ? rawRootOf(raw) : `${new URL(first.url).origin}/`
  const mayRead = (url: string) =>
    url.startsWith(within) &&
    (!raw || /\.(md|mdx|markdown|rst|txt)$/i.test(url)) &&
    !isExcludedUrl(url, source.exclude_patterns)
  const pages = [first]
  const seen = new Set([source.url, first.url])
  const texts = new Set([hashOf(first.text)])
  const isFull = () =>
    pages.length >= mostPages || lengthOf(pages) > mostCharacters || performance.now() - begun > crawlMilliseconds
  /** Reads one more page; null if it may not be read, or has nothing new. */
  const add = async (url: string): Promise<ReadPage | null> => {
    if (seen.has(url) || !mayRead(url)) return null
    seen.add(url)
    const page = await read(url, null).catch(onTheWay)
    if (!page?.url.startsWith(within) || texts.has(hashOf(page.text))) return null
    texts.add(hashOf(page.text))
    pages.push(page)
    progress(pages.length)
    return page
  }
  // No browser scrolls here: lists name their next page.
  for (let at = 0, next = first.next; at < scrolls && next && !isFull(); at++) next = (await add(next))?.next ?? null
  let layer = [...pages]
  for (let level = 2; level <= depth && layer.length > 0; level++) {
    const next: ReadPage[] = []
    for (const url of layer.flatMap(({ links }) => links)) {
      if (isFull()) break
      const page = await add(url)
      if (page) next.push(page)
    }
    layer = next
  }

  if (lengthOf(pages) < fewestCharacters)
    throw new UnusablePage(`The page has less than ${fewestCharacters} characters of text`)
  const hash = hashOfPages(pages)
  return { pages: hash === known?.hash ? null : pages, hash, ...first.validators }

  function onTheWay(error: unknown): null {
    if (error instanceof UnusablePage || error instanceof AppError) return null
    throw error
  }
}

/** A pattern is a part of a URL after its host; `*` matches anything. */
export function isExcludedUrl(url: string, patterns: readonly string[]): boolean {
  const { pathname, search } = new URL(url)
  const place = `${pathname}${search}`.toLowerCase()
  return patterns.some((pattern) => {
    let at = 0
    return pattern
      .toLowerCase()
      .split('*')
      .every((part) => {
        const found = place.indexOf(part, at)
        at = found + part.length
        return found >= 0
      })
  })
}

const lengthOf = (pages: readonly ReadPage[]) => pages.reduce((length, { text }) => length + text.trim().length, 0)
/** The hash of all pages. */
export const hashOfPages = (pages: NonNullable<ReadSource['pages']>): string =>
  hashOf(JSON.stringify(pages.map(({ url, title, text }) => [url, title, text])))
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
