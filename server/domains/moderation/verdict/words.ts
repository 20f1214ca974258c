import {
  hasMaskedSign,
  hasNoSpaces,
  isSpelledAs,
  readingsOf,
  type Spelling,
  spellingOf,
  type Word,
  wordsOf,
} from '#server/domains/rooms/text/skeleton'
import { lowered, normalized, skeleton } from '#shared/kit/looks'
import { automaton, type Budget, longestJudged, sequencesOf, spend } from './automaton.ts'
import { compilePatterns, type OnLeftOut } from './patterns.ts'

const ascii = /^[\0-\x7f]*$/
const literalSigns = /[^\p{So}\p{Extended_Pictographic}]+/gu
// Joiners of emoji and tag letters of flags change the sign, so they stay.
const unseen =
  /(?![\u200d\u{e0020}-\u{e007f}])[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]|\u200d(?!\p{Extended_Pictographic})/gu

/** The form of a text for literal search: lower case, without invisible characters. */
const literalForm = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : lowered(text.replace(unseen, ''))

/** The search form of a literal word (`c++`). Signs such as `™` stay as they are. */
const literalOf = (word: string): string =>
  literalForm(word.replace(literalSigns, (letters) => normalized(letters, 'NFKC'))).trim()

/** Searches these distinct literals in a text of literal form, exactly as written. */
function compileLiterals(literals: readonly string[]) {
  const hasFlags = literals.some((literal) => flagLetter.test(literal))
  const symbols = new Map<number, number>()
  const sequences = literals.map((literal) =>
    Uint16Array.from({ length: literal.length }, (_, at) => {
      const unit = literal.charCodeAt(at)
      const symbol = symbols.get(unit) ?? symbols.size + 1
      symbols.set(unit, symbol)
      return symbol
    }),
  )
  const { search } = automaton(sequencesOf(sequences, (symbol) => (symbol === 0 ? [] : [symbol])))
  return (text: string, budget: Budget): Iterable<number> => {
    if (literals.length === 0) return []
    const read = new Uint16Array(text.length)
    for (let at = 0; at < text.length; at += 1) read[at] = symbols.get(text.charCodeAt(at)) ?? 0
    const isEnd = endsOf(text, budget, hasFlags ? middlesOfFlags(text) : new Set())
    return search(read, budget, (index, at) => isEnd(at + 1) && isEnd(at + 1 - (literals[index]?.length ?? 0)))
  }
}

const stepsOfEnd = 60

/** Tests whether a match may begin or end at a place; each place is tested once. */
function endsOf(text: string, budget: Budget, inFlags: ReadonlySet<number>): (at: number) => boolean {
  const known: boolean[] = []
  return (at) => {
    const before = known[at]
    if (before !== undefined) return before
    spend(budget, stepsOfEnd)
    const isEnd = !inFlags.has(at) && isBoundary(text, at)
    known[at] = isEnd
    return isEnd
  }
}

const flagLetter = /\p{Regional_Indicator}/u
const flags = /\p{Regional_Indicator}{2}/gu

const middlesOfFlags = (text: string): ReadonlySet<number> =>
  new Set(Array.from(text.matchAll(flags), ({ index }) => index + 2))

const joiner = '\u200d'
const endsInWord = /[\p{L}\p{N}\p{M}]$/u
const beginsWord = /^[\p{L}\p{N}\p{M}]/u
const goesOn = /^(?:\p{M}|\u200d|[\u{e0020}-\u{e007f}])/u

function isBoundary(text: string, at: number): boolean {
  if (at === 0) return true
  const before = text.slice(Math.max(0, at - 2), at)
  const after = text.slice(at, at + 2)
  if (goesOn.test(after) || before.endsWith(joiner)) return false
  if (!endsInWord.test(before) || !beginsWord.test(after)) return true
  return hasNoSpaces(String.fromCodePoint(before.codePointAt(before.length - 1) ?? 0)) || hasNoSpaces(after.charAt(0))
}

const stepsOfWord = 20
const stepsOfLetter = 15
const mostSymbols = 10_000

/** Searches these distinct phrases word by word, in any spelling of the text. */
function compilePhrases(phrases: readonly (readonly string[])[]) {
  const vocabulary = vocabularyOf()
  const sequences = phrases.map((words) => words.map(vocabulary.add))
  const { search, forget } = automaton(sequencesOf(sequences, vocabulary.itemsOf))
  return (reading: readonly Word[], budget: Budget): Iterable<number> => {
    if (phrases.length === 0) return []
    if (vocabulary.forgets()) forget()
    const symbols = Uint16Array.from(reading, (word) => vocabulary.symbolOf(word, budget))
    return budget.left < 0 ? [] : search(symbols, budget)
  }
}

/** The vocabulary of phrases. A symbol is the set of vocabulary words that a word of a text may spell. */
function vocabularyOf() {
  const items = new Map<string, number>()
  const bySqueezed = new Map<string, { item: number; spelling: Spelling }[]>()
  const symbols = new Map<string, number>([['', 0]])
  const itemsOfSymbol: number[][] = [[]]

  const add = (word: string): number => {
    const known = items.get(word)
    if (known !== undefined) return known
    const [item, spelling] = [items.size, spellingOf(word)]
    items.set(word, item)
    const alike = bySqueezed.get(spelling.squeezed)
    if (alike) alike.push({ item, spelling })
    else bySqueezed.set(spelling.squeezed, [{ item, spelling }])
    return item
  }

  const symbolOf = (word: Word, budget: Budget): number => {
    const spelled = new Set<number>()
    if (!spend(budget, stepsOfWord)) return 0
    for (const spelling of word)
      for (const { item, spelling: wanted } of bySqueezed.get(spelling.squeezed) ?? []) {
        if (!spend(budget, (wanted.written.length + spelling.written.length) * stepsOfLetter)) return 0
        if (isSpelledAs(wanted, spelling)) spelled.add(item)
      }
    if (spelled.size === 0) return 0
    const meant = [...spelled].sort((a, b) => a - b)
    const key = meant.join()
    const known = symbols.get(key)
    if (known !== undefined) return known
    symbols.set(key, itemsOfSymbol.length)
    return itemsOfSymbol.push(meant) - 1
  }

  /** Drops symbols when there are many; later ones have new meanings. */
  const forgets = (): boolean => {
    if (symbols.size <= mostSymbols) return false
    symbols.clear()
    symbols.set('', 0)
    itemsOfSymbol.length = 1
    return true
  }

  return { add, symbolOf, forgets, itemsOf: (symbol: number): readonly number[] => itemsOfSymbol[symbol] ?? [] }
}

export interface BlockedWord {
  id: string
  word: string
  scope: 'global' | 'room'
  action: 'block' | 'flag' | 'mute'
  is_regex: boolean
  /** Is a plain word matched with its accents and signs? Absent in older words. */
  as_written?: boolean
}

export type WordHit = Omit<BlockedWord, 'word' | 'as_written'>

/** A compiled list of blocked words. */
export interface WordList {
  readonly isEmpty: boolean
  /** Adds the ids of the words found; incomplete if the budget is spent. */
  search(text: Text, budget: Budget, found: Set<string>): void
  /** The words of these ids, in the order of the list. */
  among(ids: ReadonlySet<string>): readonly WordHit[]
}

interface Text {
  readonly readings: readonly (readonly Word[])[]
  /** The text as written, and if different, with signs and widths folded. */
  readonly forms: readonly { readonly literal: string; readonly codePoints: Uint32Array }[]
}

/** Compiles a list for repeated use. Unusable words are reported and left out; the others still work. */
export function compileWords(words: readonly BlockedWord[], onLeftOut: OnLeftOut = () => {}): WordList {
  const plain = words.filter((word) => !word.is_regex)
  const phrases = groupEqualWords(plain, 'phrase')
  const literals = groupEqualWords(plain, 'literal').filter(({ form }) => form.text !== '')
  for (const word of plain) if (formOf(word).text === '') onLeftOut(word.id, nothingLeft)
  const findPhrases = compilePhrases(phrases.map(({ form }) => form.words))
  const findLiterals = compileLiterals(literals.map(({ form }) => form.text))
  const patterns = words.filter((word) => word.is_regex)
  const findPatterns = compilePatterns(patterns, onLeftOut)
  return {
    isEmpty: words.length === 0,
    search({ readings, forms }, budget, found) {
      for (const reading of readings) addIds(phrases, findPhrases(reading, budget), budget, found)
      for (const { literal, codePoints } of forms) {
        addIds(literals, findLiterals(literal, budget), budget, found)
        for (const id of findPatterns(codePoints, budget)) found.add(id)
      }
    },
    among: (ids) =>
      ids.size === 0 ? [] : words.filter(({ id }) => ids.has(id)).map(({ word: _, as_written: __, ...hit }) => hit),
  }
}

interface EqualWords {
  form: WordForm
  ids: string[]
}

/** The words of one kind; words with equal forms are one. */
function groupEqualWords(words: readonly BlockedWord[], kind: WordForm['kind']): readonly EqualWords[] {
  const byText = new Map<string, EqualWords>()
  for (const word of words) {
    const form = formOf(word)
    if (form.kind !== kind) continue
    const known = byText.get(form.text)
    if (known) known.ids.push(word.id)
    else byText.set(form.text, { form, ids: [word.id] })
  }
  return [...byText.values()]
}

const stepsOfId = 10

function addIds(words: readonly EqualWords[], indexes: Iterable<number>, budget: Budget, found: Set<string>): void {
  for (const index of indexes) {
    const ids = words[index]?.ids ?? []
    if (ids[0] === undefined || found.has(ids[0])) continue
    spend(budget, ids.length * stepsOfId)
    for (const id of ids) found.add(id)
  }
}

/**
 * Every listed word in one of the texts, or spelled across several, in the order of the lists. Null if the texts are
 * too long together, or too costly.
 */
export function findWords(
  lists: readonly WordList[],
  texts: readonly string[],
  budget: Budget,
): readonly WordHit[] | null {
  const composed = composedOf(texts)
  if (composed === null) return null
  const filled = lists.filter((list) => !list.isEmpty).map((list) => ({ list, found: new Set<string>() }))
  if (filled.length === 0) return []
  const judged = texts.map((text, at) => ({ text, composed: composed[at] ?? '' }))
  if (texts.length > 1) judged.push({ text: texts.join('\n'), composed: composed.join('\n') })
  for (const each of judged) {
    const text = readText(each, budget)
    if (text === null) return null
    for (const { list, found } of filled) list.search(text, budget, found)
    if (budget.left < 0) return null
  }
  return filled.flatMap(({ list, found }) => list.among(found))
}

function composedOf(texts: readonly string[]): string[] | null {
  let length = 0
  const composed: string[] = []
  for (const text of texts) {
    const one = normalized(text, 'NFKC')
    length += one.length
    if (length > longestJudged) return null
    composed.push(one)
  }
  return composed
}

const stepsOfAscii = 20
const stepsOfOther = 100
const beyondAscii = /[^\0-\x7f]/g

function readText({ text, composed }: { text: string; composed: string }, budget: Budget): Text | null {
  const others = composed.match(beyondAscii)?.length ?? 0
  const steps = (composed.length - others) * stepsOfAscii + others * stepsOfOther
  budget.reading = (budget.reading ?? 0) + steps
  if (!spend(budget, steps)) return null
  const written = text === composed ? composed : normalized(text, 'NFC')
  const forms = written === composed ? [composed] : [written, composed]
  return {
    readings: readingsOf(text),
    forms: forms.map((form) => ({ literal: literalForm(form), codePoints: codePointsOf(form) })),
  }
}

function codePointsOf(text: string): Uint32Array {
  const codePoints = new Uint32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length; count += 1) {
    const codePoint = text.codePointAt(at) ?? 0
    codePoints[count] = codePoint
    at += codePoint > 0xffff ? 2 : 1
  }
  return codePoints.subarray(0, count)
}

/** The word that refuses the text, if any. */
export function firstHit(found: readonly WordHit[]): WordHit | null {
  return found.find((hit) => hit.action !== 'flag') ?? null
}

const signs = /[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\s'’._-]/u
const oneSign = /^(?=.*\p{Extended_Pictographic})[^\p{L}\p{N}\s]+$/u

/**
 * A phrase is matched word by word. Words with other signs (`c++`, `#tag`), single signs and letter-like signs (`🇺🇸`)
 * are matched literally only.
 */
function isPhrase({ word, as_written }: BlockedWord): boolean {
  const bones = skeleton(word)
  if (as_written || hasMaskedSign(word) || oneSign.test(word)) return false
  return !signs.test(bones) && wordsOf(bones).length > 0
}

const nothingLeft = 'Nothing is left of this word that a text could hold'

/** The fault of a word that no text can match; null if one can. */
export const emptyWord = (word: string): string | null => (literalOf(word) === '' ? nothingLeft : null)

/** The search form of a word that is no pattern. */
interface WordForm {
  kind: 'phrase' | 'literal'
  /** Words of one kind with equal text match alike. Empty if nothing is left to search. */
  text: string
  words: readonly string[]
  /** The number of characters, counted as in a text. */
  size: number
}

const forms = new WeakMap<BlockedWord, WordForm>()

export function formOf(word: BlockedWord): WordForm {
  const known = forms.get(word)
  if (known) return known
  const size = normalized(word.word, 'NFKC').length
  const words = isPhrase(word) ? wordsOf(skeleton(word.word)) : []
  const form: WordForm =
    words.length > 0
      ? { kind: 'phrase', text: words.join(' '), words, size }
      : { kind: 'literal', text: literalOf(word.word), words, size }
  forms.set(word, form)
  return form
}
