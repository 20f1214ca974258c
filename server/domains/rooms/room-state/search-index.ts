import { setImmediate } from 'node:timers/promises'
import { wordsAskedFor, wordsToFind } from '#server/domains/rooms/text/skeleton'
import { newId } from '#server/kernel/ids'
import { messagesBetween } from '#server/log/store'
import type { RoomKey } from '#server/log/types'
import { skeletonVersion } from '#shared/kit/looks'
import { messageFactOf } from './facts.ts'
import { SearchBlocks, SearchMarks } from './model.ts'

// A word is indexed by its first three and six letters, so that its beginning finds it.
const short = 3
const long = 6

/** The words of a query, without case, accents, width and look-alikes; signs stay as they are. */
export const searchWords = wordsAskedFor

// Ends with a whole character, so that it can be stored.
const prefixOf = (word: string, length: number): string => word.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** The distinct index terms of a text. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>()
  for (const word of wordsToFind(text)) {
    terms.add(prefixOf(word, short))
    if (word.length >= long) terms.add(prefixOf(word, long))
  }
  return terms
}

/** The longest index term that every text with such a word has. */
export const termOf = (word: string): string => prefixOf(word, word.length >= long ? long : short)

/** Does the text contain each word? Up to two letters must be a whole word, more a beginning. */
export function containsWords(text: string, words: readonly string[]): boolean {
  const own = wordsToFind(text)
  return words.every((word) =>
    own.some(word.length < short ? (each) => each === word : (each) => each.startsWith(word)),
  )
}

export const roomTerms = ({ name, description }: { name: string; description?: string | null }): string[] => [
  ...termsOf(`${name} ${description ?? ''}`),
]

/** Messages in a block. */
export const blockSize = 64
/** Blocks in a segment, which one look-up of a term covers. */
export const segmentSize = 64
// A block with more terms matches every search.
const termsAtMost = 2_000
/** Stands for every term: the messages themselves must be searched. */
const anyTerm = '*'
const sliceMilliseconds = 10

export const blockOf = (n: number): number => Math.floor((n - 1) / blockSize)

/** Blocks indexed with other skeletons do not count, and are indexed again. */
export const markOf = (room: RoomKey): string => `${room}|${skeletonVersion}`

const blockId = (room: RoomKey, block: number) => `${room}|${block}`

/** The number of indexed blocks, from the first. */
export async function filedBlocks(room: RoomKey): Promise<number> {
  return (await SearchMarks.findOne({ _id: markOf(room) }).lean())?.blocks ?? 0
}

/**
 * Indexes a full block. Until its terms are written, every search finds it. They are written only if no words were
 * deleted since its messages were read.
 */
export async function fileBlock(room: RoomKey, block: number): Promise<void> {
  const _id = blockId(room, block)
  const claim = newId()
  const unfiled = { room, segment: Math.floor(block / segmentSize), block, terms: [anyTerm], is_ready: false, claim }
  await SearchBlocks.updateOne({ _id }, { $set: unfiled }, { upsert: true })
  const terms = await termsBetween(room, block * blockSize + 1, (block + 1) * blockSize)
  await SearchBlocks.updateOne({ _id, claim }, { $set: { terms, is_ready: true, claim: null } })
  await SearchMarks.updateOne({ _id: markOf(room), blocks: block }, { $set: { blocks: block + 1 } })
}

/** The number of the next block to index. */
export async function nextBlock(room: RoomKey): Promise<number> {
  await SearchMarks.updateOne({ _id: markOf(room) }, { $setOnInsert: { blocks: 0 } }, { upsert: true })
  return filedBlocks(room)
}

async function termsBetween(room: RoomKey, from: number, to: number): Promise<string[]> {
  const terms = new Set<string>()
  let began = performance.now()
  for (const row of await messagesBetween(room, from, to)) {
    const { body } = messageFactOf(row)
    if (!body.deleted) for (const term of termsOf(body.text)) terms.add(term)
    if (terms.size > termsAtMost) return [anyTerm]
    if (performance.now() - began < sliceMilliseconds) continue
    await setImmediate()
    began = performance.now()
  }
  return [...terms]
}

/** Removes these messages' words, by ordinal, from the index; called after the messages are rewritten. */
export async function forgetTerms(room: RoomKey, ns: readonly number[]): Promise<void> {
  const ids = [...new Set(ns.map((n) => blockId(room, blockOf(n))))]
  if (ids.length === 0) return
  await SearchBlocks.updateMany({ _id: { $in: ids } }, { $set: { terms: [anyTerm], is_ready: false, claim: null } })
}

/** The indexed blocks of these segments that may contain all terms, newest first. */
export async function blocksWith(room: RoomKey, segments: readonly number[], terms: readonly string[]) {
  const [first, ...others] = terms.map((term) => ({ terms: { $in: [term, anyTerm] } }))
  const filter = { room, segment: { $in: [...segments] }, ...first, ...(others.length > 0 ? { $and: others } : {}) }
  const found = await SearchBlocks.find(filter, { block: 1, is_ready: 1 }).lean()
  return found.sort((one, other) => other.block - one.block)
}
