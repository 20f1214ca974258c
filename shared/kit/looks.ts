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

/** Raised when skeletons or search words change: stored ones are then computed again. */
export const skeletonVersion = 4

/** The text without what only disguises it: case, width, accents, invisible characters, look-alikes. */
export function skeleton(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return unmask(withoutAccents(lowered(normalized(text, 'NFKD')).replace(invisible, '')))
}

/** Lower case with one form of sigma, and with `i` for a Turkish `İ`. */
export const lowered = (text: string): string => text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ')

/** Replaces digits, signs and pairs such as `rn` by similar letters. Keeps only letters, digits and pictographs. */
const lookOf = (name: string, read: Readonly<Record<string, string>>): string =>
  skeleton(name)
    .replace(leets, (written) => read[written] ?? written)
    .replace(/[^\p{L}\p{N}\p{Extended_Pictographic}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** The strictest form, for reserved names: characters similar to `i` or `l` become one letter. */
export const glance = (name: string): string => lookOf(name, letterOrL).replaceAll('i', 'l')

// Of Latin, Greek and Cyrillic, the last one in both cases.
const capitalI = /[IΙІӀ]/g

/**
 * The readings of a name by UTS 39: a capital `I`, `l`, `1` and `|` look alike. A small `i` does not. The first has its case
 * folded. The others read capitals, and digits and signs, the other way.
 */
export function looksOf(name: string): [look: string, ...others: string[]] {
  const drawn = name.normalize('NFKD').replace(capitalI, 'l')
  const others = letters.flatMap((read) => [lookOf(name, read), lookOf(drawn, read)])
  return [lookOf(name, letterOrL), ...others]
}
