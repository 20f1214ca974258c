interface Mentioned {
  /** Each is matched as a word of its own; `*` stands for the rest of a word, other signs are of a regular expression. */
  words: string
  /** Regular expressions that begin and end with a word. */
  phrases: readonly string[]
  /** Of scripts that are written without spaces, or with more at the word than its ending. */
  anywhere: string
}

const longestRead = 2_000

/** Tells whether a text speaks of something, whatever its case and accents. Of a long one the beginning is read. */
export function mentions({ words, phrases, anywhere }: Mentioned): (text: string) => boolean {
  const stems = plain(words)
    .split(' ')
    .map((word) => word.replace('*', '\\p{L}*'))
  const spoken = new RegExp(`(?<!\\p{L})(?:${[...stems, ...phrases].join('|')})(?!\\p{L})`, 'u')
  const parts = plain(anywhere).split(' ')
  return (text) => {
    const read = plain(text.slice(0, longestRead))
    return spoken.test(read) || parts.some((part) => read.includes(part))
  }
}

/** Without case and accents. */
export const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()

/** The same with single spaces in the place of all that is neither letter nor digit. */
export const plainWords = (text: string): string =>
  plain(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
