import { unmask } from './confusables.ts'
import { withoutAccents } from './marks.ts'
import { normalized } from './normal.ts'

const ascii = /^[\0-\x7f]*$/
// Among them the stroke that draws out an Arabic word.
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]/gu

// Among them the sigma, which is drawn like `o` and, where it ends a word, like `s`.
export const leets = /[0-9@$!|+σ]/g
const letterOf: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'i',
  '+': 't',
  σ: 'o',
}
const orL = { '1': 'l', '!': 'l', '|': 'l' }
const orS = { σ: 's' }
const letterOrL: Readonly<Record<string, string>> = { ...letterOf, ...orL }
/** Each way to read digits, signs and a sigma as letters. */
export const letters = [letterOrL, letterOf, { ...letterOrL, ...orS }, { ...letterOf, ...orS }]

/** Raised where the same text has another skeleton than before, or is found by other words: what is stored of skeletons is then made anew. */
export const skeletonVersion = 4

/** The text without what only disguises it: case, width, accents, invisible characters, look-alikes. */
export function skeleton(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return unmask(withoutAccents(lowered(normalized(text, 'NFKD')).replace(invisible, '')))
}

/** In lower case, in which a sigma is one letter wherever it stands, and a Turkish `İ` an `i`. */
export const lowered = (text: string): string => text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ')

/** Replaces digits, signs and pairs such as `rn` by the letters they resemble, and removes everything that is no letter, digit or pictograph. */
const lookOf = (name: string, read: Readonly<Record<string, string>>): string =>
  skeleton(name)
    .replace(leets, (written) => read[written] ?? written)
    .replace(/[^\p{L}\p{N}\p{Extended_Pictographic}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** The strictest form, for names that nobody may have: everything that may be read as `i` or as `l` becomes one letter. */
export const glance = (name: string): string => lookOf(name, letterOrL).replaceAll('i', 'l')

// Of Latin, Greek and Cyrillic, the last one in both cases.
const capitalI = /[IΙІӀ]/g

/**
 * What a name may be taken for, as UTS 39 has it: a capital `I`, `l`, `1` and `|` look alike, a small `i` does not. The first is
 * the name with its case folded; the others read its capitals, and its digits and signs, the other way.
 */
export function looksOf(name: string): [look: string, ...others: string[]] {
  const drawn = name.normalize('NFKD').replace(capitalI, 'l')
  const others = letters.flatMap((read) => [lookOf(name, read), lookOf(drawn, read)])
  return [lookOf(name, letterOrL), ...others]
}
