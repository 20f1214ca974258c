import { isSpelled, readings, type Spelling, skeleton, spell, type Word, wordsOf } from '#server/domains/text/skeleton'
import { compilePatterns, type OnQuarantine } from './patterns.ts'

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
  readonly readings: readonly (readonly Word[])[]
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
      const ids = new Set([...findLiterals(text.composed), ...findPatterns(text.composed)])
      for (const reading of text.readings) findPhrases(reading, ids)
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

interface Phrase {
  readonly id: string
  readonly first: Spelling
  readonly others: readonly Spelling[]
}

function compilePhrases(blocked: readonly BlockedWord[]): (reading: readonly Word[], found: Set<string>) => void {
  const byFirst = new Map<string, Phrase[]>()
  for (const { id, word } of blocked) {
    const [first, ...others] = wordsOf(skeleton(word)).map(spell)
    if (first === undefined) continue
    const phrases = byFirst.get(first.squeezed)
    if (phrases === undefined) byFirst.set(first.squeezed, [{ id, first, others }])
    else phrases.push({ id, first, others })
  }
  return (reading, found) => {
    if (byFirst.size === 0) return
    for (let at = 0; at < reading.length; at += 1) {
      for (const spelling of reading[at] ?? []) {
        const phrases = byFirst.get(spelling.squeezed)
        if (phrases === undefined) continue
        for (const phrase of phrases) {
          if (isSpelled(phrase.first, spelling) && goesOn(phrase.others, reading, at + 1)) found.add(phrase.id)
        }
      }
    }
  }
}

function goesOn(others: readonly Spelling[], reading: readonly Word[], from: number): boolean {
  return others.every((other, offset) => reading[from + offset]?.some((spelling) => isSpelled(other, spelling)))
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
