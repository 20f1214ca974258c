export interface Observable<Value> {
  readonly value: Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

/** A value that notifies its listeners of each change. */
export function observable<Value>(initial: Value): Observable<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get value() {
      return value
    },
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      const own = () => listener()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
  }
}
