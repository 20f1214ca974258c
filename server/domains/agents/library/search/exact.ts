import { setImmediate } from 'node:timers/promises'
import MiniSearch from 'minisearch'
import type { StoredChunk } from '../model.ts'

const endings = /(ization|ational|ations?|ments?|ness|ities|ity|ings?|edly|ies|ied|ers?|ors?|ed|ly|es|s|e|y)$/

/** Stems of the words of a text, so that forms of a word match. */
export function termsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, '')
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => {
    if (common.has(word)) return []
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(word)) return pairsOf(word)
    const stem = word.slice(0, 40).replace(endings, '')
    return [stem.length < 3 ? word : stem]
  })
}

/** Scripts without spaces are compared by pairs of characters. */
function pairsOf(word: string): string[] {
  const signs = [...word]
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`)
}

const common = new Set(
  `a about all also am an and any are as at be been but by can could did do does each for from had has have he her his how i if in
  into is it its me my no not of on or our she so some such than that the their them then there these they this those to too us was we
  were what when where which who whom whose why will with would you your`.split(/\s+/),
)

const similarityThreshold = 0.25
/** A chunk with half of the words is found, whatever its vector. */
const enoughWords = 0.5
/** The weight of words beside vectors. */
const wordWeight = 0.5
const mostTerms = 60
const mostHits = 200
/** Compared positions of words, at most; rare words first, as they tell most. */
const mostPlaces = 1_000
const addedAtOnce = 32

export type SearchRow = Pick<StoredChunk, '_id' | 'knowledge_id' | 'n' | 'url' | 'title' | 'text'>

export interface FoundChunk extends SearchRow {
  score: number
}

/** An exact index of an agent's chunks: all vectors, and BM25 over the words. */
export interface ExactIndex {
  readonly bytes: number
  readonly size: number
  find(question: { text: string; vector: Float32Array }, most: number): FoundChunk[]
}

/** Vectors of other embedders are ignored: such chunks are found by words. */
export async function exactIndex(
  chunks: readonly (SearchRow & Pick<StoredChunk, 'vector' | 'embedder'>)[],
  embedder: { name: string; dimensions: number },
): Promise<ExactIndex> {
  const { dimensions } = embedder
  const matrix = new Float32Array(chunks.length * dimensions)
  const rows: SearchRow[] = []
  const words = new MiniSearch<{ id: number; terms: string }>({ fields: ['terms'], tokenize: bySpaces, processTerm })
  const frequency = new Map<string, number>()
  let textBytes = 0
  for (const { _id, knowledge_id, n, url, title, text, vector, embedder: by } of chunks) {
    const id = rows.length
    if (by === embedder.name) matrix.set(vectorOf(vector, dimensions), id * dimensions)
    const terms = termsOf(`${title} ${text}`)
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
    words.add({ id, terms: terms.join(' ') })
    rows.push({ _id, knowledge_id, n, url, title, text })
    textBytes += text.length
    if (id % addedAtOnce === 0) await setImmediate()
  }
  function lexical(text: string): Map<number, { score: number; share: number }> {
    const terms = [...new Set(termsOf(text))].slice(0, mostTerms)
    const places = (term: string) => frequency.get(term) ?? 0
    const telling: string[] = []
    let sum = 0
    for (const term of terms.toSorted((one, other) => places(one) - places(other))) {
      sum += places(term)
      if (sum > mostPlaces) break
      telling.push(term)
    }
    const hits = telling.length === 0 ? [] : words.search(telling.join(' '))
    const best = hits[0]?.score ?? 1
    return new Map(
      hits
        .slice(0, mostHits)
        .map(({ id, score, queryTerms }) => [
          id as number,
          { score: score / best, share: queryTerms.length / terms.length },
        ]),
    )
  }

  function find({ text, vector }: { text: string; vector: Float32Array }, most: number): FoundChunk[] {
    const scores = similarities(matrix, vector, rows.length)
    const byWords = lexical(text)
    const best: { at: number; score: number }[] = []
    for (let at = 0; at < rows.length; at++) {
      const similarity = scores[at] ?? 0
      const word = byWords.get(at)
      if (similarity < similarityThreshold && (word?.share ?? 0) < enoughWords) continue
      const score = similarity + wordWeight * (word?.score ?? 0)
      if (best.length === most && score <= (best[most - 1]?.score ?? 0)) continue
      const place = best.findIndex((other) => other.score < score)
      best.splice(place < 0 ? best.length : place, 0, { at, score })
      best.length = Math.min(best.length, most)
    }
    return best.flatMap(({ at, score }) => {
      const row = rows[at]
      return row ? [{ ...row, score }] : []
    })
  }

  return { bytes: matrix.byteLength + textBytes * 8, size: rows.length, find }
}

const bySpaces = (terms: string) => terms.split(' ')
const processTerm = (term: string) => term

/** The bytes may be unaligned. */
function vectorOf(stored: Buffer | { buffer: Buffer }, dimensions: number): Float32Array {
  const bytes = Buffer.isBuffer(stored) ? stored : Buffer.from(stored.buffer)
  return bytes.byteLength === dimensions * 4
    ? new Float32Array(Uint8Array.from(bytes).buffer)
    : new Float32Array(dimensions)
}

export const vectorBytes = (vector: Float32Array): Buffer =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)

/** Dot products of the rows with the vector; all have length 1. */
function similarities(matrix: Float32Array, vector: Float32Array, rows: number): Float32Array {
  const dimensions = vector.length
  const found = new Float32Array(rows)
  for (let row = 0, from = 0; row < rows; row++, from += dimensions) {
    let one = 0
    let two = 0
    let three = 0
    let four = 0
    for (let at = 0; at < dimensions; at += 4) {
      one += (matrix[from + at] as number) * (vector[at] as number)
      two += (matrix[from + at + 1] as number) * (vector[at + 1] as number)
      three += (matrix[from + at + 2] as number) * (vector[at + 2] as number)
      four += (matrix[from + at + 3] as number) * (vector[at + 3] as number)
    }
    found[row] = one + two + three + four
  }
  return found
}
