import { leets, letters, skeleton } from '#shared/kit/looks'

const ascii = /^[\0-\x7f]*$/
// Scripts without spaces, and drawn signs: each character with its marks is a word.
const spaceless = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const solitary = new RegExp(String.raw`[${spaceless}\p{Extended_Pictographic}]\p{M}*`, 'gu')
const isSpaceless = new RegExp(`[${spaceless}]`, 'u')
const asciiWords = /[a-z0-9]+/g
const words = /[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]+/gu

const leet = /[0-9@$!|+σ]/
const sign = /[@$!|+]/
const asciiSignedWords = /[a-z0-9@$!|+]+/g
const signedWords = /[\p{L}\p{N}\p{M}@$!|+]+/gu
const letterLike = /\p{L}|[@$]{2}/u
const looseEnd = '!|+'
/** Does the character belong to a script without spaces? */
export const hasNoSpaces = (character: string): boolean => isSpaceless.test(character)

/** The words of a skeleton as spelled. */
export function wordsOf(bones: string): string[] {
  if (ascii.test(bones)) return bones.match(asciiWords) ?? []
  return bones.replace(solitary, ' $& ').match(words) ?? []
}

/** A spelling of a word, and the same with repeated characters squeezed. */
export interface Spelling {
  readonly written: string
  readonly squeezed: string
}

/** A word in every reading: as spelled, and with digits and signs as letters. */
export type Word = readonly Spelling[]

/** All readings of a text: as spelled, with signs inside words, and each with single characters joined. */
export function readingsOf(text: string): Word[][] {
  const bones = skeleton(text)
  const ways = withJoined(wordsOf(bones))
  if (sign.test(bones)) {
    const signed = signedWordsOf(bones)
    if (signed.some((word) => sign.test(word) && letterLike.test(word))) ways.push(...withJoined(signed))
  }
  return ways.map((way) => way.map(spellingsOf))
}

function signedWordsOf(bones: string): string[] {
  const words = bones.match(ascii.test(bones) ? asciiSignedWords : signedWords) ?? []
  return words.map((word) => (sign.test(word) ? withoutLooseEnds(word) : word)).filter((word) => word !== '')
}

function withoutLooseEnds(word: string): string {
  let [from, to] = [0, word.length]
  while (from < to && looseEnd.includes(word.charAt(from))) from += 1
  while (to > from && looseEnd.includes(word.charAt(to - 1))) to -= 1
  return word.slice(from, to)
}

// Words repeat, so short ones are cached. Long slices are not, because they would keep the whole text in memory.
const known = new Map<string, Word>()
const knownAtMost = 20_000
const longestKnown = 12

function spellingsOf(word: string): Word {
  const before = known.get(word)
  if (before) return before
  const spelled = spellings(word)
  if (word.length > longestKnown) return spelled
  if (known.size >= knownAtMost) known.clear()
  known.set(word, spelled)
  return spelled
}

function spellings(word: string): Word {
  if (!leet.test(word) || !letterLike.test(word)) return [spellingOf(word)]
  const asLetters = letters.map((read) => word.replace(leets, (written) => read[written] ?? written))
  return [...new Set([word, ...asLetters])].map(spellingOf)
}

export function spellingOf(word: string): Spelling {
  return { written: word, squeezed: squeeze(word) }
}

function withJoined(reading: string[]): string[][] {
  const joined = joinSingles(reading)
  return joined === null ? [reading] : [reading, joined]
}

const surrogate = /^[\ud800-\udbff]/

/** `z o r k` as `zork`; null without adjacent single characters. */
function joinSingles(reading: readonly string[]): string[] | null {
  const joined: string[] = []
  let previousIsSingle = false
  let found = false
  for (const word of reading) {
    const isSingle = word.length === 1 || (word.length === 2 && surrogate.test(word))
    if (isSingle && previousIsSingle) {
      joined.push((joined.pop() ?? '') + word)
      found = true
    } else joined.push(word)
    previousIsSingle = isSingle
  }
  return found ? joined : null
}

function squeeze(word: string): string {
  for (let at = 1; at < word.length; at += 1) {
    if (word.charCodeAt(at) === word.charCodeAt(at - 1)) return word.replace(/(.)\1+/g, '$1')
  }
  return word
}

/** Is this the word, exactly or with runs of three or more (`scaaam`)? Digits must match exactly. */
export function isSpelledAs(word: Spelling, as: Spelling): boolean {
  if (word.written === as.written) return true
  if (word.squeezed !== as.squeezed) return false
  const wanted = runs(word.written)
  return runs(as.written).every((run, at) => {
    const length = wanted[at]?.length ?? 0
    return run.length === length || (run.length > length && run.length >= 3 && !/\d/.test(run))
  })
}

function runs(word: string): string[] {
  return word.match(/(.)\1*/g) ?? []
}

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
