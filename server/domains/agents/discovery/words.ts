import { skeleton, wordsOf } from '#server/domains/text/skeleton'
import type { StoredAgent } from '../model.ts'

const wordsAtMost = 300
const longestWord = 40
const afterAll = '\uffff'

const wordsIn = (text: string): string[] => wordsOf(skeleton(text)).map((word) => word.slice(0, longestWord))

/** The words that an agent is found by, each once. */
export const searchableWords = ({ name, tags, personality }: Pick<StoredAgent, 'name' | 'tags' | 'personality'>) =>
  [...new Set(wordsIn([name, ...tags, personality].join(' ')))].slice(0, wordsAtMost)

/** What is asked of agents with a word that begins as each of these; null where no word is asked for. */
export function withWords(search: string) {
  const asked = [...new Set(wordsIn(search))]
  if (asked.length === 0) return null
  return asked.map((word) => ({ words: { $elemMatch: { $gte: word, $lt: word + afterAll } } }))
}
