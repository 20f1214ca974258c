import { useCallback, useEffect, useRef, useState } from 'react'

/** The state of a list: its items, or that it loads or failed. */
export interface Listing<T> {
  value: T | null
  error: unknown
  isLoading: boolean
  reload: () => void
}

/** The same of what asks again by itself, so that nobody needs to. */
export type Renewed<T> = Omit<Listing<T>, 'reload'> & Partial<Pick<Listing<T>, 'reload'>>

export interface Loaded<T> extends Listing<T> {
  /** Changes the loaded value locally, until it is loaded again. */
  change: (next: (value: T) => T) => void
}

interface Answer<T> {
  key: string
  value: T | null
  error: unknown
  isLoading: boolean
}

/** The result of `load`, loaded again when `key` changes; the result of an older call is dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ key, value: null, error: null, isLoading: true })
  const latest = useRef(load)
  latest.current = load
  const wanted = useRef(key)
  wanted.current = key
  const runs = useRef(0)

  const run = useCallback((asked: string) => {
    runs.current += 1
    const ours = runs.current
    const settle = (found: Partial<Answer<T>>) => {
      if (runs.current !== ours) return
      setAnswer((before) => ({ ...before, key: asked, error: null, isLoading: false, ...found }))
    }
    setAnswer((before) => ({
      ...before,
      key: asked,
      value: before.key === asked ? before.value : null,
      isLoading: true,
    }))
    latest.current().then(
      (value) => settle({ value }),
      (error) => settle({ error }),
    )
  }, [])

  useEffect(() => run(key), [key, run])

  /** What failed without a network is asked for again when there is one. */
  const hasFailed = answer.error !== null
  useEffect(() => {
    if (!hasFailed) return
    const again = () => run(wanted.current)
    addEventListener('online', again)
    return () => removeEventListener('online', again)
  }, [hasFailed, run])

  const reload = useCallback(() => run(wanted.current), [run])
  const change = useCallback((next: (value: T) => T) => {
    setAnswer((before) => (before.value === null ? before : { ...before, value: next(before.value) }))
  }, [])
  return { ...answer, value: answer.key === key ? answer.value : null, reload, change }
}
