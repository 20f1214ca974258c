interface SubjectWords {
  /** Words to match; `*` is the rest of a word, and other signs are regular expressions. */
  words: string
  /** Regular expressions that begin and end with a word. */
  phrases: readonly string[]
  /** For scripts without spaces, or with suffixes beyond an ending. */
  anywhere: string
}

const longestRead = 2_000

/** Tests whether a text mentions a subject, in any case and accents. Only the beginning of a long text is read. */
export function mentionTest({ words, phrases, anywhere }: SubjectWords): (text: string) => boolean {
  const stems = plainText(words)
    .split(' ')
    .map((word) => word.replace('*', '\\p{L}*'))
  const spoken = new RegExp(`(?<!\\p{L})(?:${[...stems, ...phrases].join('|')})(?!\\p{L})`, 'u')
  const parts = plainText(anywhere).split(' ')
  return (text) => {
    const read = plainText(text.slice(0, longestRead))
    return spoken.test(read) || parts.some((part) => read.includes(part))
  }
}

/** Without case and accents. */
export const plainText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()

/** The same, with single spaces for everything except letters and digits. */
export const plainWords = (text: string): string =>
  plainText(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
