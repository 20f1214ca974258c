import { wordsAskedFor, wordsToFind } from '#server/domains/rooms/text/signs'

// A word is filed under its first three and its first six letters, so that its start finds it.
const short = 3
const long = 6

/** The words of a query, without case, accents, width and look-alikes; a sign means itself. */
export const searchWords = wordsAskedFor

// Ends with a whole character, so that it can be stored.
const startOf = (word: string, length: number): string => word.slice(0, length).replace(/[\ud800-\udbff]$/, '')

/** What a text is filed under in an index, each once. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>()
  for (const word of wordsToFind(text)) {
    terms.add(startOf(word, short))
    if (word.length >= long) terms.add(startOf(word, long))
  }
  return terms
}

/** The most telling term under which every text is filed that has a word like this. */
export const termOf = (word: string): string => startOf(word, word.length >= long ? long : short)

/** Does the text hold each of these words? One of up to two letters is a whole word, a longer one the start of a word. */
export function holdsAll(text: string, words: readonly string[]): boolean {
  const own = wordsToFind(text)
  return words.every((word) =>
    own.some(word.length < short ? (each) => each === word : (each) => each.startsWith(word)),
  )
}

/** What a room is filed under. */
export const roomTerms = ({ name, description }: { name: string; description?: string | null }): string[] => [
  ...termsOf(`${name} ${description ?? ''}`),
]
