import { normalized } from '#server/domains/text/normal'
import { automaton } from './automaton.ts'
import { type Budget, spend } from './budget.ts'
import { sequencesOf } from './sequences.ts'

/** A word with signs in it (`c++`) in the form in which it is looked for. */
export const literalOf = (word: string): string => normalized(word, 'NFKC').trim().toLowerCase()

/** Tells which of these literals, all different, a text has that is composed and in lower case; they are matched as they are written. */
export function compileLiterals(literals: readonly string[]) {
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
    const isEnd = endsOf(text, budget)
    return search(read, budget, (index, at) => isEnd(at + 1) && isEnd(at + 1 - (literals[index]?.length ?? 0)))
  }
}

const stepsOfEnd = 60

/** Tells where something may begin or end. Each place of the text is looked at once. */
function endsOf(text: string, budget: Budget): (at: number) => boolean {
  const known: boolean[] = []
  return (at) => {
    const before = known[at]
    if (before !== undefined) return before
    spend(budget, stepsOfEnd)
    const isEnd = isBoundary(text, at)
    known[at] = isEnd
    return isEnd
  }
}

const wordCharacter = /[\p{L}\p{N}\p{M}]/u

function isBoundary(text: string, at: number): boolean {
  return !(wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at)))
}
