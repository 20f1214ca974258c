import { compilePatterns, type OnQuarantine } from './patterns.ts'
import { isDrawnOut, readings, skeleton, squeeze, wordsOf } from './skeleton.ts'

export { checkPattern, patternLimits } from './patterns.ts'

export interface BlockedWord {
  id: string
  word: string
  scope: 'global' | 'room'
  action: 'block' | 'flag' | 'mute'
  is_regex: boolean
}

export type Hit = Omit<BlockedWord, 'word'>

/** A compiled list of blocked words. */
export interface WordList {
  readonly isEmpty: boolean
  /** The words found, in the order of the list. */
  search(text: Text): readonly Hit[]
}

interface Text {
  readonly readings: readonly (readonly string[])[]
  readonly composed: string
}

/** Compiles a list for repeated use. A word that cannot be used is reported and left out; the others are not touched. */
export function compileWords(
  words: readonly BlockedWord[],
  onQuarantine: OnQuarantine = () => {},
  deadlineMilliseconds = 100,
): WordList {
  const order = new Map(words.map((word, at) => [word.id, { at, word }]))
  const plain = words.filter((word) => !word.is_regex)
  const patterns = words.filter((word) => word.is_regex).map(({ id, word }) => ({ id, source: word }))
  const findPhrases = compilePhrases(plain.filter(isPhrase))
  const findLiterals = compileLiterals(
    plain.filter((word) => !isPhrase(word)),
    onQuarantine,
  )
  const findPatterns = compilePatterns(patterns, onQuarantine, deadlineMilliseconds)
  return {
    isEmpty: words.length === 0,
    search(text) {
      const ids = new Set([
        ...text.readings.flatMap(findPhrases),
        ...findLiterals(text.composed),
        ...findPatterns(text.composed),
      ])
      if (ids.size === 0) return []
      const found = [...ids].flatMap((id) => order.get(id) ?? [])
      return found.sort((a, b) => a.at - b.at).map(({ word: { word: _, ...hit } }) => hit)
    },
  }
}

/** Every word of these lists that the text contains, in the order of the lists. */
export function hits(lists: readonly WordList[], text: string): readonly Hit[] {
  const filled = lists.filter((list) => !list.isEmpty)
  if (filled.length === 0) return []
  const read: Text = { readings: readings(text), composed: text.normalize('NFKC') }
  return filled.flatMap((list) => list.search(read))
}

/** The word that refuses the text, if any does. */
export function firstHit(found: readonly Hit[]): Hit | null {
  return found.find((hit) => hit.action !== 'flag') ?? null
}

const signs = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\s'’._-]/u

/** A phrase is matched word by word; what holds other signs (`c++`, `#tag`) can only be matched as it is written. */
function isPhrase({ word }: BlockedWord): boolean {
  const bones = skeleton(word)
  return !signs.test(bones) && wordsOf(bones).length > 0
}

function compilePhrases(words: readonly BlockedWord[]): (reading: readonly string[]) => string[] {
  const byFirst = new Map<string, { id: string; phrase: readonly string[] }[]>()
  for (const { id, word } of words) {
    const phrase = wordsOf(skeleton(word))
    const key = squeeze(phrase[0] ?? '')
    byFirst.set(key, [...(byFirst.get(key) ?? []), { id, phrase }])
  }
  return (reading) =>
    byFirst.size === 0
      ? []
      : reading.flatMap((written, at) => {
          const candidates = byFirst.get(squeeze(written))
          if (candidates === undefined) return []
          return candidates.filter(({ phrase }) => isAt(phrase, reading, at)).map(({ id }) => id)
        })
}

function isAt(phrase: readonly string[], reading: readonly string[], at: number): boolean {
  return phrase.every((word, offset) => {
    const written = reading[at + offset]
    return written !== undefined && squeeze(written) === squeeze(word) && isDrawnOut(written, word)
  })
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u

function compileLiterals(words: readonly BlockedWord[], onQuarantine: OnQuarantine): (composed: string) => string[] {
  const literals = words.map(({ id, word }) => ({ id, literal: word.normalize('NFKC').trim().toLowerCase() }))
  for (const { id, literal } of literals) if (literal === '') onQuarantine(id, 'The word is empty')
  const usable = literals.filter(({ literal }) => literal !== '')
  return (composed) => {
    if (usable.length === 0) return []
    const lower = composed.toLowerCase()
    return usable.filter(({ literal }) => holds(lower, literal)).map(({ id }) => id)
  }
}

function holds(text: string, literal: string): boolean {
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) {
    const end = at + literal.length
    if (isBoundary(text, at) && isBoundary(text, end)) return true
  }
  return false
}

function isBoundary(text: string, at: number): boolean {
  return !(wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at)))
}
