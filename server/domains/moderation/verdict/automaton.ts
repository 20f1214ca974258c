/**
 * The remaining cost of judging one text, for all lists and parts. It is counted in steps, never in time, so each node
 * gives the same verdict. Below zero the text is too complex.
 */
export interface Budget {
  left: number
  /** The steps of reading the text, which follow from its length. */
  reading?: number
}

/** The most characters, in composed Unicode, of a message: its text, file names, URLs and options. */
export const longestJudged = 40_000

/** Spends steps; false if the budget has fewer. */
export function spend(budget: Budget, steps: number): boolean {
  budget.left -= steps
  return budget.left >= 0
}

/** A search machine. Its state is a set of places, which it encodes itself; equal sets have equal codes. */
export interface Machine {
  start: string
  /** The number of items that it searches, numbered from zero. */
  wanted: number
  /** The next state after a symbol; deterministic. */
  advance(places: string, symbol: number): MachineStep
}

interface MachineStep {
  places: string
  /** The items that end with this symbol. */
  found: readonly number[]
  /** The cost of this step. */
  steps: number
}

interface State {
  places: string
  /** Edges by symbol. */
  next: Edge[]
}

interface Edge {
  to: State
  found: readonly number[]
  steps: number
  /** The search that has paid for this edge. */
  search: number
  /** The items of `found` that this search has not found yet. */
  open: readonly number[]
}

/** Does an item that ends at this symbol count? A counted item is not asked about again. */
type MatchFilter = (found: number, at: number) => boolean

interface Automaton {
  /** The items found in these symbols; incomplete if the budget is spent. */
  search(symbols: Uint16Array, budget: Budget, accept?: MatchFilter): ReadonlySet<number>
  /** Clears all states, because symbols have new meanings. */
  forget(): void
}

const stepsOfSymbol = 3
const stepsOfMatch = 8
const mostKept = 1_000

/**
 * Runs a machine and caches its states, so that similar text costs one look-up for each symbol. A search pays for each
 * edge on its first use, cached or not, and for each match until it counts. Its cost thus follows from its input alone.
 */
export function automaton({ start, wanted, advance }: Machine): Automaton {
  const states = new Map<string, State>()
  let edges = 0
  let searches = 0

  const stateOf = (places: string): State => {
    const known = states.get(places)
    if (known) return known
    const state = { places, next: [] }
    states.set(places, state)
    return state
  }

  const explore = (state: State, symbol: number): Edge => {
    const { places, found, steps } = advance(state.places, symbol)
    const edge = { to: stateOf(places), found, steps, search: 0, open: found }
    state.next[symbol] = edge
    edges += 1
    return edge
  }

  const forget = () => {
    states.clear()
    edges = 0
  }

  return {
    forget,
    search(symbols, budget, accept = () => true) {
      const found = new Set<number>()
      if (!spend(budget, symbols.length * stepsOfSymbol)) return found
      walk(symbols, budget, accept, found)
      // A costly text is unlike the next ones, so its states are dropped.
      if (edges > mostKept) forget()
      return found
    },
  }

  function walk(symbols: Uint16Array, budget: Budget, accept: MatchFilter, found: Set<number>): void {
    searches += 1
    let state = stateOf(start)
    for (let at = 0; at < symbols.length; at += 1) {
      const symbol = symbols[at] as number
      let edge = state.next[symbol]
      if (edge === undefined || edge.search !== searches) {
        edge ??= explore(state, symbol)
        edge.search = searches
        edge.open = edge.found
        if (!spend(budget, edge.steps)) return
      }
      if (edge.open.length > 0) {
        if (!spend(budget, edge.open.length * stepsOfMatch)) return
        edge.open = edge.open.filter((one) => !found.has(one) && !isTaken(one, at))
        if (found.size === wanted || budget.left < 0) return
      }
      state = edge.to
    }

    function isTaken(one: number, at: number): boolean {
      if (!accept(one, at)) return false
      found.add(one)
      return true
    }
  }
}

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
