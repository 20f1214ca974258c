import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Node, Services } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { nodeState } from '#server/kernel/operate/node-state'
import { job } from '#server/kernel/work/jobs'
import type { Turn } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import {
  KnowledgeChunks,
  KnowledgeItems,
  KnowledgeTexts,
  type StoredChunk,
  type StoredItem,
  type StoredText,
} from './model.ts'
import { textChunks } from './reading/chunks.ts'
import {
  type ReadPage,
  rawRootOf,
  rawUrlOf,
  readPage,
  type ScrapeMethod,
  UnusablePage,
  type Validators,
} from './reading/page.ts'
import { vectorBytes } from './search/exact.ts'

const mostPages = 50
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
interface KnownSource extends Validators {
  hash: string | null
}

interface ReadSource extends KnownSource {
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
const hashOfPages = (pages: NonNullable<ReadSource['pages']>): string =>
  hashOf(JSON.stringify(pages.map(({ url, title, text }) => [url, title, text])))
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

const mostChunks = 2_000
const mostChunksOfAgent = 20_000
const longestTitle = 200
const embeddedAtOnce = 64
/** Attempts after internal failures. */
const attempts = 3
const givenUpMilliseconds = 600_000
const hourMilliseconds = 3_600_000

/** Reads an item; of simultaneous jobs one does. Earlier chunks serve until the new ones are complete. */
export const indexingJob = job({
  kind: 'knowledge.index',
  payload: z.object({ item: z.string() }),
  atOnce: 3,
  async run({ item: id }, { id: ours, attempt, node, signal }) {
    const generation = newId()
    const item = await takeItem(id, ours, generation, node.now())
    if (!item) return
    try {
      await index(node, item, generation, signal)
    } catch (error) {
      const why = reasonOf(error) ?? (attempt < attempts ? null : 'The server could not index the page')
      if (why === null || signal.aborted) throw error
      const isOver = await settle(node, item, generation, {
        status: 'failed',
        error_message: why,
        stale_since: item.generation === null ? null : (item.stale_since ?? new Date(node.now())),
      })
      // If it failed, these chunks may be in use; the next attempt removes leftovers.
      if (isOver) await KnowledgeChunks.deleteMany({ knowledge_id: id, generation })
    }
  },
})

/** Indexes given documents instead of those at the item's URL. Unchanged ones are not read again. */
export async function indexDocuments(
  node: Node,
  id: string,
  pages: NonNullable<ReadSource['pages']>,
  signal: AbortSignal,
): Promise<void> {
  const generation = newId()
  const item = await takeItem(id, `given ${id}`, generation, node.now())
  if (!item) return
  const hash = hashOfPages(pages)
  const isKnown = knownOf(node, item)?.hash === hash
  await build(node, item, generation, { pages: isKnown ? null : pages, hash, etag: null, modified: null }, signal)
}

/** Attempts that began earlier have died. */
const givenUpAt = (now: number) => new Date(now - givenUpMilliseconds)

/** Whether another job is reading the item. */
export const isItemBeingRead = ({ status, claimed_at }: StoredItem, now: number): boolean =>
  status === 'processing' && claimed_at !== null && claimed_at >= givenUpAt(now)

/** Null if the item is gone, or another job reads it. */
async function takeItem(id: string, ours: string, generation: string, now: number): Promise<StoredItem | null> {
  const item = await KnowledgeItems.findOneAndUpdate(
    { _id: id, $or: [{ status: { $ne: 'processing' } }, { job: ours }, { claimed_at: { $lt: givenUpAt(now) } }] },
    { $set: { status: 'processing', job: ours, building: generation, claimed_at: new Date(now) } },
    { returnDocument: 'after' },
  ).lean<StoredItem>()
  if (item)
    await KnowledgeChunks.deleteMany({ knowledge_id: id, generation: { $nin: [item.generation ?? '', generation] } })
  else if ((await KnowledgeItems.exists({ _id: id })) === null) await KnowledgeChunks.deleteMany({ knowledge_id: id })
  return item
}

async function index(node: Node, item: StoredItem, generation: string, signal: AbortSignal): Promise<void> {
  const given = await KnowledgeTexts.findOne({ _id: item._id }).lean<StoredText>()
  if (given) return build(node, item, generation, readGiven(item, given, knownOf(node, item)), signal)
  const read = await readSource(node.services, item, knownOf(node, item), { of: item.agent_id, signal }, (pages) => {
    KnowledgeItems.updateOne({ _id: item._id, building: generation }, { $set: { pages } }).catch((error: unknown) =>
      node.logger.warn({ error }, 'how far a source was read was not stored'),
    )
  })
  await build(node, item, generation, read, signal)
}

/** A text that was given instead of a page. */
function readGiven({ url, title }: StoredItem, { text }: StoredText, known: KnownSource | null): ReadSource {
  const pages = [{ url, title, text }]
  const hash = hashOfPages(pages)
  return { pages: known?.hash === hash ? null : pages, hash, etag: null, modified: null }
}

const knownOf = ({ services: { embedder } }: Node, item: StoredItem): KnownSource | null =>
  item.generation !== null && item.embedder === embedder.name ? item : null

async function build(
  node: Node,
  item: StoredItem,
  generation: string,
  read: ReadSource,
  signal: AbortSignal,
): Promise<void> {
  const { embedder } = node.services
  const now = new Date(node.now())
  const { etag, modified, hash } = read
  const fresh = {
    status: 'indexed',
    error_message: null,
    stale_since: null,
    last_synced_at: now,
    etag,
    modified,
    hash,
  } as const
  if (read.pages === null) return void (await settle(node, item, generation, { ...fresh, pages: item.pages }))
  const texts = textsOf(item, read.pages)
  await refuseTooMany(item, texts.length)
  await store(node, item, generation, texts, signal)
  const chunks = {
    generation,
    chunk_count: texts.length,
    pages: read.pages.length,
    embedder: embedder.name,
    indexed_at: now,
  }
  const stands = await settle(node, item, generation, { ...fresh, ...chunks })
  const over = stands ? item.generation : generation
  if (over !== null) await KnowledgeChunks.deleteMany({ knowledge_id: item._id, generation: over })
}

function textsOf({ title }: StoredItem, pages: NonNullable<ReadSource['pages']>) {
  const texts = pages.flatMap((page) =>
    textChunks(page.text).map((text) => ({ url: page.url, title: cut(page.title ?? title, longestTitle), text })),
  )
  if (texts.length === 0) throw new UnusablePage('The page has no text that is long enough')
  return texts.slice(0, mostChunks)
}

async function refuseTooMany({ _id, agent_id }: StoredItem, more: number): Promise<void> {
  const others = await KnowledgeItems.find({ agent_id, _id: { $ne: _id } }, { chunk_count: 1 }).lean<StoredItem[]>()
  if (others.reduce((sum, { chunk_count }) => sum + chunk_count, more) > mostChunksOfAgent)
    throw new UnusablePage(`An agent knows at most ${mostChunksOfAgent} passages`)
}

async function store(
  node: Node,
  { _id: knowledge_id, agent_id }: StoredItem,
  generation: string,
  texts: ReturnType<typeof textsOf>,
  signal: AbortSignal,
): Promise<void> {
  const { embedder } = node.services
  for (let from = 0; from < texts.length; from += embeddedAtOnce) {
    const part = texts.slice(from, from + embeddedAtOnce)
    const vectors = await embedder.embed(
      part.map(({ title, text }) => `${title}\n${text}`),
      signal,
      (tokens) => tokenCounter(node).count(agent_id, tokens),
    )
    const rows = part.map((text, at): StoredChunk => {
      const vector = vectorBytes(vectors[at] ?? new Float32Array(embedder.dimensions))
      return {
        _id: newId(),
        agent_id,
        knowledge_id,
        generation,
        n: from + at,
        ...text,
        vector,
        embedder: embedder.name,
      }
    })
    signal.throwIfAborted()
    await KnowledgeChunks.insertMany(rows)
  }
}

/** False if the item is gone, or a later attempt reads it. */
async function settle(node: Node, item: StoredItem, building: string, change: Partial<StoredItem>): Promise<boolean> {
  const now = node.now()
  const again = item.sync_at ? { sync_at: new Date(now + item.sync_interval_hours * hourMilliseconds) } : {}
  const { matchedCount } = await KnowledgeItems.updateOne(
    { _id: item._id, building },
    { $set: { ...change, ...again, building: null, tried_at: new Date(now) } },
  )
  return matchedCount === 1
}

/** The reason for the owner; null for an internal failure, which is retried. */
function reasonOf(error: unknown): string | null {
  if (error instanceof UnusablePage) return error.message
  if (!(error instanceof AppError)) return null
  if (error.code === 'TIMEOUT') return 'The page took too long'
  if (error.code === 'UPSTREAM_ERROR') return 'The page could not be read'
  return ['INVALID_PARAMETER', 'UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE'].includes(error.code)
    ? error.message
    : null
}

/** Counts the tokens of embeddings outside of answers. */
export const tokenCounter = nodeState(() => ({ count: (_agent: string, _tokens: number): void => undefined }))
