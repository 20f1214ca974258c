/** Runs a limited number of works at a time. Parties whose works wait take turns, each with its works in their order. */
export function fewAtOnce(most: number): <T>(work: () => Promise<T>, party?: string) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>()
  let free = most
  const nextInTurn = (): (() => void) | undefined => {
    const [first] = waiting
    if (!first) return
    const [party, works] = first
    const next = works.shift()
    // Behind the others.
    waiting.delete(party)
    if (works.length > 0) waiting.set(party, works)
    return next
  }
  return async (work, party = '') => {
    if (free > 0) free -= 1
    else
      await new Promise<void>((resolve) => {
        const works = waiting.get(party)
        if (works) works.push(resolve)
        else waiting.set(party, [resolve])
      })
    try {
      return await work()
    } finally {
      const next = nextInTurn()
      if (next) next()
      else free += 1
    }
  }
}
