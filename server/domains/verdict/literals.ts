import { normalized } from '#server/domains/text/normal'
import { automaton } from './automaton.ts'
import type { Budget } from './budget.ts'
import { sequencesOf } from './sequences.ts'

/** A word with signs in it (`c++`) in the form in which it is looked for. */
export const literalOf = (word: string): string => normalized(word, 'NFKC').trim().toLowerCase()

/** Words that are matched as they are written, in a text that is composed and in lower case, all of them in one pass. */
export function compileLiterals(words: readonly { id: string; word: string }[]) {
  const literals = words.map(({ word }) => literalOf(word))
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
    const read = new Uint16Array(text.length)
    for (let at = 0; at < text.length; at += 1) read[at] = symbols.get(text.charCodeAt(at)) ?? 0
    search(read, budget, (indexes, at) => {
      for (const index of indexes) {
        const start = at + 1 - (literals[index]?.length ?? 0)
        if (isBoundary(text, start) && isBoundary(text, at + 1)) found.add(words[index]?.id ?? '')
      }
      return false
    })
  }
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u

function isBoundary(text: string, at: number): boolean {
  return !(wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at)))
}
