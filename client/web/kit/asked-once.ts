const keptMilliseconds = 60_000

interface Kept {
  at: number
  answer: Promise<unknown>
}
const all = new WeakMap<object, Map<string, Kept>>()

/** Asks `owner` once a minute, however often what shows the answer is drawn anew. What failed is asked again. */
export function askedOnce<T>(owner: object, name: string, ask: () => Promise<T>): Promise<T> {
  const its = all.get(owner) ?? new Map<string, Kept>()
  all.set(owner, its)
  const known = its.get(name)
  if (known && performance.now() - known.at < keptMilliseconds) return known.answer as Promise<T>
  const answer = ask()
  its.set(name, { at: performance.now(), answer })
  answer.catch(() => its.delete(name))
  return answer
}

/** The next caller gets a new answer. */
export const forgetAnswer = (owner: object, name: string): void => void all.get(owner)?.delete(name)
