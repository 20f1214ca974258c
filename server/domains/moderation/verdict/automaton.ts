import { type Budget, spend } from './budget.ts'

/** What is searched for. It holds a set of places at once, which it spells as it likes; equal sets are spelled alike. */
export interface Machine {
  start: string
  /** How many it looks for, numbered from zero. */
  wanted: number
  /** What follows from these places and a symbol; the same each time. */
  advance(places: string, symbol: number): Reached
}

export interface Reached {
  places: string
  /** What ends with this symbol. */
  found: readonly number[]
  /** What it took to find this out. */
  steps: number
}

interface State {
  places: string
  /** By symbol. */
  next: Edge[]
}

interface Edge {
  to: State
  found: readonly number[]
  steps: number
  /** The search that has paid for it. */
  search: number
  /** What of `found` this search has not found so far. */
  open: readonly number[]
}

/** Does what ends at this symbol count? Once it does, it is not asked about again. */
export type Accept = (found: number, at: number) => boolean

export interface Automaton {
  /** What is found in these symbols; some is missing where the budget was used up. */
  search(symbols: Uint16Array, budget: Budget, accept?: Accept): ReadonlySet<number>
  /** Symbols mean something else from now on. */
  forget(): void
}

const stepsOfSymbol = 3
const stepsOfMatch = 8
const mostKept = 1_000

/**
 * Walks a machine and keeps what it has learnt: sets of places become states, so that text like the text before costs one look a
 * symbol. A search pays for each edge that it walks for the first time, whether it was known before or not, and for each match until
 * it counts: what it costs follows from its input alone.
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
      // A text that took much to search is not like the next ones.
      if (edges > mostKept) forget()
      return found
    },
  }

  function walk(symbols: Uint16Array, budget: Budget, accept: Accept, found: Set<number>): void {
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
