import { type ExactIndex, exactIndex, vectorBytes } from '#server/domains/agents/library/search/exact'
import { localEmbedder } from '#server/ports/model/local-embedder'
import { median } from './load.ts'
import type { Report } from './report.ts'

const chunks = 20_000
const wordsOfChunk = 140
const vocabulary = 5_000
const questions = 40

/** A few words are in every text and most are in few, as in what people write; the same at each run. */
function* textsFrom(seed: number): Generator<string> {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const word = () => `w${Math.floor(next() ** 3 * vocabulary).toString(36)}ing`
  for (;;) yield Array.from({ length: wordsOfChunk }, word).join(' ')
}

/** Measures the search in the most that an agent can know. */
export async function measureSearch(report: Report): Promise<void> {
  const embedder = localEmbedder()
  const { signal } = new AbortController()
  const source = textsFrom(7)
  const texts = Array.from({ length: chunks + questions }, () => source.next().value as string)
  const vectors = await embedder.embed(texts, signal)
  const rows = texts.map((text, n) => ({
    ...{ _id: `${n}`, knowledge_id: 'one', n, url: 'https://site.test/', title: '', text },
    ...{ vector: vectorBytes(vectors[n] ?? new Float32Array()), embedder: embedder.name },
  }))
  const index = await exactIndex(rows.slice(0, chunks), embedder)
  const value = median(rows.slice(chunks).map(({ text, n }) => millisecondsOf(index, text, vectors[n])))
  report.tell({
    nodes: 1,
    store: 'none',
    name: `a search in ${chunks.toLocaleString('en')} chunks, ms`,
    value,
    target: 20,
  })
}

function millisecondsOf(index: ExactIndex, text: string, vector: Float32Array = new Float32Array()): number {
  const question = text.split(' ').slice(0, 12).join(' ')
  const startedAt = performance.now()
  index.find({ text: question, vector }, 8)
  return performance.now() - startedAt
}
