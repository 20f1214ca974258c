import { useRef, useState } from 'react'
import { type Loaded, useLoaded } from './use-loaded.ts'

interface Page<T> {
  items: readonly T[]
  next_cursor: string | null
}

interface Pages<T> extends Loaded<readonly T[]> {
  /** Adds the next page; null where there is none. */
  more: (() => Promise<void>) | null
}

/** A list that is loaded a page at a time, from its beginning when `key` changes. */
export function usePages<T>(key: string, load: (cursor?: string) => Promise<Page<T>>): Pages<T> {
  const [next, setNext] = useState<string | null>(null)
  const asked = useRef(0)
  const loaded = useLoaded<readonly T[]>(key, async () => {
    asked.current += 1
    const { items, next_cursor } = await load()
    setNext(next_cursor)
    return items
  })
  const more = async (cursor: string) => {
    const before = asked.current
    const { items, next_cursor } = await load(cursor)
    // The list was begun anew meanwhile.
    if (asked.current !== before) return
    loaded.change((shown) => [...shown, ...items])
    setNext(next_cursor)
  }
  return { ...loaded, more: next === null || loaded.value === null ? null : () => more(next) }
}
