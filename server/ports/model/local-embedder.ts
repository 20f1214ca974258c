import { setImmediate } from 'node:timers/promises'
import type { Embedder } from './port.ts'

const dimensions = 512
/** Texts end somewhere; what comes after adds nothing that a vector of this size could tell apart. */
const mostWords = 4_000
/** Then others have their turn: a text takes about half a millisecond. */
const atOnce = 16

/**
 * Vectors without a service: words, their stems and the letters within them, each hashed to one of 512 places. Texts
 * are near where they share words or parts of words, in any language; it knows no synonyms. The same on every machine.
 */
export const localEmbedder = (): Embedder => ({
  name: `local-${dimensions}-1`,
  dimensions,
  async embed(texts, signal) {
    const vectors: Float32Array[] = []
    for (const text of texts) {
      signal.throwIfAborted()
      vectors.push(vectorOf(text))
      if (vectors.length % atOnce === 0) await setImmediate()
    }
    return vectors
  },
})

function vectorOf(text: string): Float32Array {
  const counts = new Map<string, number>()
  for (const [feature, weight] of featuresOf(text)) counts.set(feature, (counts.get(feature) ?? 0) + weight)
  const sums = new Float64Array(dimensions)
  for (const [feature, count] of counts) {
    const hash = hashOf(feature)
    // A word said ten times is not ten times as telling.
    sums[hash % (dimensions - 1)] = (sums[hash % (dimensions - 1)] ?? 0) + (hash >>> 31 ? -1 : 1) * Math.sqrt(count)
  }
  return atUnitLength(sums)
}

/**
 * Language models score related texts at about 0.4; shared words alone score half of that. The last dimension is equal in all
 * texts, which raises every pair alike and keeps their order.
 */
const shared = 0.4

function atUnitLength(sums: Float64Array): Float32Array {
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0))
  // What says nothing is near to nothing.
  if (length === 0) return new Float32Array(dimensions).fill(1, 0, 1)
  const vector = Float32Array.from(sums, (value) => (value / length) * Math.sqrt(1 - shared ** 2))
  vector[dimensions - 1] = shared
  return vector
}

/** The stems of a text, without words that are in every text. */
export const stemsOf = (text: string): string[] =>
  [...wordsOf(text)].filter((word) => !common.has(word)).map((word) => stemOf(word))

function* featuresOf(text: string): Generator<[feature: string, weight: number]> {
  let before = ''
  for (const stem of stemsOf(text)) {
    yield [`=${stem}`, 1]
    if (before) yield [`+${before} ${stem}`, 0.3]
    before = stem
    const letters = `<${stem}>`
    for (let at = 0; at + 4 <= letters.length; at++) yield [letters.slice(at, at + 4), 0.04]
  }
}

/** Words of letters and digits; a script without spaces in pairs of its signs. */
function* wordsOf(text: string): Generator<string> {
  const plain = text
    .slice(0, mostWords * 16)
    .normalize('NFKD')
    .toLowerCase()
  const words = plain.replace(/[\p{M}'’]/gu, '').match(/[\p{L}\p{N}]+/gu) ?? []
  for (const word of words.slice(0, mostWords)) {
    if (!/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(word)) yield word.slice(0, 40)
    else for (const [at, sign] of [...word].entries()) yield sign + ([...word][at + 1] ?? '')
  }
}

const endings =
  /(ization|ational|fulness|ousness|iveness|ations?|ments?|ness|ities|ity|ings?|edly|ies|ied|ers?|ors?|ed|ly|es|s|e|y)$/

/** What a word has in common with its other forms. Too short a rest tells words no longer apart, so it keeps its ending. */
export function stemOf(word: string): string {
  let stem = word
  for (let rounds = 0; rounds < 3; rounds++) {
    const shorter = stem.replace(endings, '')
    if (shorter.length < 3 || shorter === stem) break
    stem = shorter
  }
  return stem.replace(/([b-df-hj-np-tv-z])\1$/, '$1')
}

const common = new Set(
  `a about after all also am an and any are as at be because been before but by can could did do does each for from get had has have he her here him his
  how i if in into is it its just like make many may me more most much must my no not of on one only or other our out own same she should so some such than that the
  their them then there these they this those to too up us very was we were what when where which while who whom whose why will with would you your`.split(
    /\s+/,
  ),
)

/** FNV-1a, mixed so that every bit depends on every sign. */
function hashOf(feature: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
