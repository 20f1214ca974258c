/** A map of limited size whose entries expire; the oldest are removed first. */
export function briefMemory<T>(most: number) {
  const kept = new Map<string, { value: T; until: number }>()
  return {
    get(key: string): T | undefined {
      const one = kept.get(key)
      return one && one.until > performance.now() ? one.value : undefined
    },
    set(key: string, value: T, milliseconds: number): void {
      kept.delete(key)
      kept.set(key, { value, until: performance.now() + milliseconds })
      if (kept.size <= most) return
      const [oldest = ''] = kept.keys()
      kept.delete(oldest)
    },
    delete(key: string): void {
      kept.delete(key)
    },
  }
}
