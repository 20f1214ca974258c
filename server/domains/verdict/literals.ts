import { normalized } from '#server/domains/text/normal'
import { hasNoSpaces } from '#server/domains/text/skeleton'
import { automaton } from './automaton.ts'
import type { Budget } from './budget.ts'
import { sequencesOf } from './sequences.ts'

const ascii = /^[\0-\x7f]*$/
const signs = /[^\p{So}\p{Extended_Pictographic}]+/gu
// What joins emoji, and the letters of some flags, make another sign of them.
const unseen =
  /(?![\u200d\u{e0020}-\u{e007f}])[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]|\u200d(?!\p{Extended_Pictographic})/gu

/** A text in the form in which literals are looked for: in lower case, without what nobody sees. */
export const literalForm = (text: string): string => (ascii.test(text) ? text : text.replace(unseen, '')).toLowerCase()

/** A word that is matched as it is written (`c++`) in the form in which it is looked for. Signs such as `™` mean themselves. */
export const literalOf = (word: string): string =>
  literalForm(word.replace(signs, (letters) => normalized(letters, 'NFKC'))).trim()

/** Words that are matched as they are written, in a text of the literal form, all of them in one pass. */
export function compileLiterals(words: readonly { id: string; word: string }[]) {
  const literals = words.map(({ word }) => literalOf(word))
  const hasFlags = literals.some((literal) => flagLetter.test(literal))
  const symbols = new Map<number, number>()
  const sequences = literals.map((literal) =>
    Array.from({ length: literal.length }, (_, at) => {
      const unit = literal.charCodeAt(at)
      const symbol = symbols.get(unit) ?? symbols.size + 1
      symbols.set(unit, symbol)
      return symbol
    }),
  )
  const { search } = automaton(sequencesOf(sequences, (symbol) => (symbol === 0 ? [] : [symbol])))
  return (text: string, budget: Budget, found: Set<string>): void => {
    if (words.length === 0) return
    const inFlags = hasFlags ? middlesOfFlags(text) : new Set<number>()
    const read = new Uint16Array(text.length)
    for (let at = 0; at < text.length; at += 1) read[at] = symbols.get(text.charCodeAt(at)) ?? 0
    search(read, budget, (indexes, at) => {
      for (const index of indexes) {
        const start = at + 1 - (literals[index]?.length ?? 0)
        const isWhole = [start, at + 1].every((end) => isBoundary(text, end) && !inFlags.has(end))
        if (isWhole) found.add(words[index]?.id ?? '')
      }
      return false
    })
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
