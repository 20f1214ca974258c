import { hasNoSpaces } from '#server/domains/rooms/text/skeleton'
import { lowered } from '#shared/kit/looks'
import { normalized } from '#shared/kit/normal'
import { automaton } from './automaton.ts'
import { type Budget, spend } from './budget.ts'
import { sequencesOf } from './sequences.ts'

const ascii = /^[\0-\x7f]*$/
const signs = /[^\p{So}\p{Extended_Pictographic}]+/gu
// Joiners of emoji and tag letters of flags change the sign, so they stay.
const unseen =
  /(?![\u200d\u{e0020}-\u{e007f}])[\p{Cf}\p{Default_Ignorable_Code_Point}\u0640]|\u200d(?!\p{Extended_Pictographic})/gu

/** The form of a text for literal search: lower case, without invisible characters. */
export const literalForm = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : lowered(text.replace(unseen, ''))

/** The search form of a literal word (`c++`). Signs such as `™` stay as they are. */
export const literalOf = (word: string): string =>
  literalForm(word.replace(signs, (letters) => normalized(letters, 'NFKC'))).trim()

/** Searches these distinct literals in a text of literal form, exactly as written. */
export function compileLiterals(literals: readonly string[]) {
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
