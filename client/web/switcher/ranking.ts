export interface Findable {
  title: string
  /** Other texts by which it is found, such as a username. They count half a rank less. */
  also?: readonly string[]
  /** Words by which people look for it, found by their beginnings alone. */
  soughtAs?: string | undefined
}

/** Without case, accents, and signs that nobody sees. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .trim()
const wordsOf = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean)

const ranks = { whole: 0, beginning: 1, words: 2, letters: 3 } as const
/** The letters of a query are found within so many times their number. */
const loosest = 4

/** The entries that fit a query, the best first. Entries of one rank keep their order. */
export function ranked<Entry extends Findable>(query: string, entries: readonly Entry[]): readonly Entry[] {
  const wanted = plain(query)
  return entries
    .map((entry) => ({ entry, rank: bestRank(wanted, entry) }))
    .filter(({ rank }) => Number.isFinite(rank))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry)
}

const bestRank = (wanted: string, { title, also = [], soughtAs }: Findable): number =>
  Math.min(
    rankOf(wanted, plain(title)),
    ...also.map((text) => rankOf(wanted, plain(text)) + 0.5),
    soughtAs && beginsWords(wordsOf(wanted), wordsOf(plain(`${title} ${soughtAs}`)))
      ? ranks.words + 0.5
      : Number.POSITIVE_INFINITY,
  )

function rankOf(wanted: string, text: string): number {
  if (text === wanted) return ranks.whole
  if (text.startsWith(wanted)) return ranks.beginning
  if (beginsWords(wordsOf(wanted), wordsOf(text))) return ranks.words
  const letters = [...wanted.replace(/\s+/g, '')]
  const length = letters.length < 2 ? Number.POSITIVE_INFINITY : shortestWith(letters, [...text])
  return length > letters.length * loosest ? Number.POSITIVE_INFINITY : ranks.letters + 1 - letters.length / length
}

/** Whether each word of the query begins a word of the text, in the same order. */
function beginsWords(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0
  for (const word of words) if (at < wanted.length && word.startsWith(wanted[at] ?? '')) at += 1
  return at > 0 && at === wanted.length
}

/** The length of the shortest part of a text that has these letters in order. */
function shortestWith(letters: readonly string[], text: readonly string[]): number {
  const lengths = text.map((letter, start) => {
    if (letter !== letters[0]) return Number.POSITIVE_INFINITY
    let end = start
    for (const next of letters.slice(1)) {
      end = text.indexOf(next, end + 1)
      if (end < 0) return Number.POSITIVE_INFINITY
    }
    return end - start + 1
  })
  return Math.min(...lengths)
}
