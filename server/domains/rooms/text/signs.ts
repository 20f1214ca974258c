import { skeleton } from '#shared/kit/looks'
import { wordsOf } from './skeleton.ts'

// A flag, a digit on a key, or any other sign that is drawn.
const drawn =
  /\p{Regional_Indicator}{2}|\u{1f3f4}[\u{e0020}-\u{e007f}]+|[0-9#*]\ufe0f?\u20e3|[\p{So}\p{Extended_Pictographic}]/gu
const variant = /[\ufe0e\ufe0f]/g

const bare = (sign: string): string => sign.replace(variant, '')

/** Does the text hold a sign that a skeleton takes for letters or digits (`🇺🇸`, `™`, `1️⃣`), or one of several characters? */
export const hasMaskedSign = (text: string): boolean =>
  (text.match(drawn) ?? []).some((sign) => skeleton(sign) !== bare(sign))

/** The words that are searched for. A sign means itself, never the letters that it shows, and ends a word. */
export const wordsAskedFor = (query: string): string[] => [
  ...wordsOf(skeleton(query.replace(drawn, ' '))),
  ...(query.match(drawn) ?? []).map(bare),
]

/**
 * The words of a text as a search finds them: those that are asked for to find it, those that the letters of its signs make, and those of Hangul from each
 * of their syllables on.
 */
export function wordsToFind(text: string): string[] {
  const words = hasMaskedSign(text) ? [...wordsOf(skeleton(text)), ...wordsAskedFor(text)] : wordsAskedFor(text)
  return hangul.test(text) ? [...words, ...words.flatMap(withinOf)] : words
}

const hangul = /\p{Script=Hangul}/u
/** In a skeleton each syllable is written by its letters, of which this is the first. */
const syllable = /(?<!^)[\u1100-\u115f]/g

/** What is written onto other words without a space, as Korean does. */
const withinOf = (word: string): string[] => [...word.matchAll(syllable)].map(({ index }) => word.slice(index))
