import { wordsAskedFor, wordsToFind } from '#server/domains/rooms/text/skeleton'

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
