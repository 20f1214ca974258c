import { skeleton } from '#shared/kit/looks'
import { wordsOf } from './skeleton.ts'

// A flag, a keycap, or another drawn sign.
const drawn =
  /\p{Regional_Indicator}{2}|\u{1f3f4}[\u{e0020}-\u{e007f}]+|[0-9#*]\ufe0f?\u20e3|[\p{So}\p{Extended_Pictographic}]/gu
const variant = /[\ufe0e\ufe0f]/g

const bare = (sign: string): string => sign.replace(variant, '')

/** Has the text a sign that the skeleton reads as letters or digits (`🇺🇸`, `™`, `1️⃣`) or as several characters? */
export const hasMaskedSign = (text: string): boolean =>
  (text.match(drawn) ?? []).some((sign) => skeleton(sign) !== bare(sign))

/** The words of a query. A sign means itself, not its letters, and ends a word. */
export const wordsAskedFor = (query: string): string[] => [
  ...wordsOf(skeleton(query.replace(drawn, ' '))),
  ...(query.match(drawn) ?? []).map(bare),
]

/** The searchable words of a text: its query words, those of letters in signs, and Hangul words from each syllable. */
export function wordsToFind(text: string): string[] {
  const words = hasMaskedSign(text) ? [...wordsOf(skeleton(text)), ...wordsAskedFor(text)] : wordsAskedFor(text)
  return hangul.test(text) ? [...words, ...words.flatMap(withinOf)] : words
}

const hangul = /\p{Script=Hangul}/u
/** The first letter of a syllable in a skeleton. */
const syllable = /(?<!^)[\u1100-\u115f]/g

/** Words attached without a space, as in Korean. */
const withinOf = (word: string): string[] => [...word.matchAll(syllable)].map(({ index }) => word.slice(index))
