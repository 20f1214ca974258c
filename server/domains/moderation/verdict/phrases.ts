import { isSpelledAs, type Spelling, spellingOf, type Word } from '#server/domains/rooms/text/skeleton'
import { automaton } from './automaton.ts'
import { type Budget, spend } from './budget.ts'
import { sequencesOf } from './sequences.ts'

const stepsOfWord = 20
const stepsOfLetter = 15
const mostSymbols = 10_000

/** Searches these distinct phrases word by word, in any spelling of the text. */
export function compilePhrases(phrases: readonly (readonly string[])[]) {
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
