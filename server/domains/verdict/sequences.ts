import type { Machine } from './automaton.ts'

const root = 0
const stepsOfEdge = 40
const stepsOfLook = 10

/**
 * Sequences of items as a machine that finds all of them: a trie, with the root held always. A symbol may stand for several items,
 * as a word does that can be spelled in several ways; so more than one place of the trie is held at a time. What is found is an
 * index of the sequences.
 */
export function sequencesOf(
  sequences: readonly (readonly number[])[],
  itemsOf: (symbol: number) => readonly number[],
): Machine {
  const children: Map<number, number>[] = [new Map()]
  const ends: number[][] = [[]]
  const childOf = (place: number, item: number): number => {
    const known = children[place]?.get(item)
    if (known !== undefined) return known
    const child = children.push(new Map()) - 1
    ends.push([])
    children[place]?.set(item, child)
    return child
  }
  for (const [index, items] of sequences.entries()) ends[items.reduce(childOf, root)]?.push(index)

  return {
    start: '',
    advance(spelled, symbol) {
      const items = itemsOf(symbol)
      const places = placesIn(spelled)
      const reached = new Set<number>()
      for (const place of [root, ...places])
        for (const item of items) {
          const child = children[place]?.get(item)
          if (child !== undefined) reached.add(child)
        }
      const found = [...reached].flatMap((place) => ends[place] ?? [])
      const steps = stepsOfEdge + (places.length + 1) * items.length * stepsOfLook + found.length
      return { places: spell(reached), found, steps }
    },
  }
}

const unit = 0x10000

const spell = (places: ReadonlySet<number>): string =>
  [...places]
    .sort((a, b) => a - b)
    .map((place) => String.fromCharCode(place / unit, place % unit))
    .join('')

const placesIn = (spelled: string): number[] =>
  Array.from(
    { length: spelled.length / 2 },
    (_, at) => spelled.charCodeAt(at * 2) * unit + spelled.charCodeAt(at * 2 + 1),
  )
