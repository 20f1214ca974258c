/**
 * A cache of derived values, each with the stamp of its source; a new stamp makes it anew. The longest unused are
 * removed first. Stamps are read before their source, so a value is never older than its stamp.
 */
export function createStampedCache<Value>(most: number) {
  const kept = new Map<string, { stamp: string; value: Value }>()
  const keep = (key: string, stamp: string, value: Value) => {
    kept.delete(key)
    kept.set(key, { stamp, value })
  }
  return {
    async of(
      stamps: ReadonlyMap<string, string>,
      make: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
    ): Promise<Map<string, Value>> {
      const values = new Map<string, Value>()
      const missing: string[] = []
      for (const [key, stamp] of stamps) {
        const known = kept.get(key)
        if (known?.stamp !== stamp) missing.push(key)
        else {
          keep(key, stamp, known.value)
          values.set(key, known.value)
        }
      }
      if (missing.length === 0) return values
      for (const [key, value] of await make(missing)) {
        keep(key, stamps.get(key) ?? '', value)
        values.set(key, value)
      }
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break
        kept.delete(oldest)
      }
      return values
    },
    forget: (key: string) => void kept.delete(key),
    forgetAll: () => kept.clear(),
  }
}
