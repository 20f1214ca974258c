import { unmask } from './confusables.ts'

const ascii = /^[\0-\x7f]*$/
const invisible = /[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

// Written without spaces, or drawn: each character is a word of its own.
const solitary =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}]/gu
const asciiWords = /[a-z0-9]+/g
const words = /[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]+/gu

const leet = /[0-9@$!|+]/
const leetWords = /[\p{L}\p{N}\p{M}@$!|+]*[\p{L}@$][\p{L}\p{N}\p{M}@$!|+]*/gu
const looseEnds = /^[!|+]+|[!|+]+$/g
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
}
const letterOrL: Readonly<Record<string, string>> = { ...letterOf, '1': 'l', '!': 'l', '|': 'l' }

/** The text without what only disguises it: case, width, accents, invisible characters, look-alikes. */
export function skeleton(text: string): string {
  if (ascii.test(text)) return text.toLowerCase()
  return unmask(text.normalize('NFKD').toLowerCase().normalize('NFKD').replace(invisible, ''))
}

/** The words of a skeleton as they are spelled. */
export function wordsOf(bones: string): string[] {
  if (ascii.test(bones)) return bones.match(asciiWords) ?? []
  return bones.replace(solitary, ' $& ').match(words) ?? []
}

/** Every way a text is read: as spelled, with digits and signs as letters, and with single characters joined. */
export function readings(text: string): string[][] {
  const bones = skeleton(text)
  const spelled = [wordsOf(bones)]
  if (leet.test(bones)) spelled.push(leetReading(bones, letterOf))
  if (/[1!|]/.test(bones)) spelled.push(leetReading(bones, letterOrL))
  const joined = spelled.map(joinSingles).filter((reading) => reading !== null)
  return [...spelled, ...joined]
}

function leetReading(bones: string, letters: Readonly<Record<string, string>>): string[] {
  const disguised = bones.match(leetWords) ?? []
  return disguised.map((word) => word.replace(looseEnds, '').replace(/[0-9@$!|+]/g, (sign) => letters[sign] ?? sign))
}

/** `z o r k` as `zork`; null where no two single characters follow one another. */
function joinSingles(reading: readonly string[]): string[] | null {
  const joined: string[] = []
  let previousIsSingle = false
  let found = false
  for (const word of reading) {
    const isSingle =
      word.length === 1 || (word.length === 2 && word.codePointAt(1) !== word.codePointAt(0) && [...word].length === 1)
    if (isSingle && previousIsSingle) {
      joined.push((joined.pop() ?? '') + word)
      found = true
    } else joined.push(word)
    previousIsSingle = isSingle
  }
  return found ? joined : null
}

const repeated = /(.)\1+/u

/** The word with each run of one character squeezed to one. */
export function squeeze(word: string): string {
  return repeated.test(word) ? word.replace(/(.)\1+/gu, '$1') : word
}

/** Do two words of one squeezed form differ only in runs drawn out to three or more (`scaaam`)? Digits count exactly. */
export function isDrawnOut(written: string, word: string): boolean {
  if (written === word) return true
  const wordRuns = runs(word)
  return runs(written).every((run, at) => {
    const wanted = wordRuns[at]?.length ?? 0
    return run.length === wanted || (run.length > wanted && run.length >= 3 && !/\d/.test(run))
  })
}

function runs(word: string): string[] {
  return word.match(/(.)\1*/gu) ?? []
}

const reserved = new Set(['admin', 'administrator', 'superadmin', 'moderator', 'official', 'staff'])
const unnameable = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u

/** May this display name mislead: by control or direction characters, or by passing for staff? */
export function isSpoofing(name: string): boolean {
  if (unnameable.test(name)) return true
  return readings(name).some((reading) => reading.some((word) => reserved.has(word) || reserved.has(squeeze(word))))
}
