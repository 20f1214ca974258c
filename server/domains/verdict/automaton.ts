import { type Budget, spend } from './budget.ts'

/** What is searched for. It holds a set of places at once, which it spells as it likes; equal sets are spelled alike. */
export interface Machine {
  start: string
  /** What follows from these places and a symbol; the same each time. */
  advance(places: string, symbol: number): Reached
}

export interface Reached {
  places: string
  /** What has been found with this symbol. */
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
  /** Null where nothing is. */
  found: readonly number[] | null
  steps: number
  /** The search that has paid for it. */
  search: number
}

export interface Automaton {
  /** Tells what is found after each symbol, until `onFound` answers that it is enough, or the budget is used up. */
  search(symbols: Uint16Array, budget: Budget, onFound: (found: readonly number[], at: number) => boolean): void
  /** Symbols mean something else from now on. */
  forget(): void
}

const stepsOfSymbol = 3
const mostKept = 1_000

/**
 * Walks a machine and keeps what it has learnt: sets of places become states, so that text like the text before costs one look a
 * symbol. A search pays for each edge that it walks for the first time, whether it was known before or not: what it costs
 * follows from its input alone.
 */
export function automaton({ start, advance }: Machine): Automaton {
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
    const edge = { to: stateOf(places), found: found.length > 0 ? found : null, steps, search: 0 }
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
    search(symbols, budget, onFound) {
      if (!spend(budget, symbols.length * stepsOfSymbol)) return
      walk(symbols, budget, onFound)
      // A text that took much to search is not like the next ones.
      if (edges > mostKept) forget()
    },
  }

  function walk(...[symbols, budget, onFound]: Parameters<Automaton['search']>): void {
    searches += 1
    let state = stateOf(start)
    for (let at = 0; at < symbols.length; at += 1) {
      const symbol = symbols[at] as number
      let edge = state.next[symbol]
      if (edge === undefined || edge.search !== searches) {
        edge ??= explore(state, symbol)
        edge.search = searches
        if (!spend(budget, edge.steps)) return
      }
      if (edge.found !== null && onFound(edge.found, at)) return
      state = edge.to
    }
  }
}
