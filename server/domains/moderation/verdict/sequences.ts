import type { Machine } from './automaton.ts'

type Sequence = ArrayLike<number>

const stepsOfEdge = 100
const stepsOfLook = 25
/** The characters of one encoded place. */
const units = 3

/**
 * Distinct sequences of items, as a machine that finds their indexes. It is a trie whose root is always active. A
 * symbol may mean several items, so several places are active. The trie is a sorted list: a place is a range of
 * sequences with a common prefix, and its length. There are at most 65,535 sequences, each no longer.
 */
export function sequencesOf(sequences: readonly Sequence[], itemsOf: (symbol: number) => readonly number[]): Machine {
  const sorted = sequences.map((items, index) => ({ items, index })).sort((a, b) => compare(a.items, b.items))

  /** The first sequence in the range whose item at this depth is this one or greater. An ended sequence sorts first. */
  const firstFrom = (item: number, from: number, to: number, depth: number): number => {
    let [first, end] = [from, to]
    while (first < end) {
      const middle = (first + end) >>> 1
      if ((sorted[middle]?.items[depth] ?? -1) < item) first = middle + 1
      else end = middle
    }
    return first
  }

  return {
    start: '',
    wanted: sequences.length,
    advance(places, symbol) {
      const items = itemsOf(symbol)
      const found: number[] = []
      let reached = ''
      const go = (from: number, to: number, depth: number) => {
        for (const item of items) {
          const first = firstFrom(item, from, to, depth)
          const end = firstFrom(item + 1, first, to, depth)
          const one = first < end ? sorted[first] : undefined
          if (one === undefined) continue
          const hasEnded = one.items.length === depth + 1
          if (hasEnded) found.push(one.index)
          if (!hasEnded || end - first > 1) reached += String.fromCharCode(first, end, depth + 1)
        }
      }
      go(0, sorted.length, 0)
      for (let at = 0; at < places.length; at += units)
        go(places.charCodeAt(at), places.charCodeAt(at + 1), places.charCodeAt(at + 2))
      const steps = stepsOfEdge + (places.length / units + 1) * items.length * stepsOfLook
      return { places: reached, found, steps }
    },
  }
}

function compare(one: Sequence, other: Sequence): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at += 1) {
    const difference = (one[at] as number) - (other[at] as number)
    if (difference !== 0) return difference
  }
  return one.length - other.length
}
