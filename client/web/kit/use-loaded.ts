import { useCallback, useEffect, useRef, useState } from 'react'
import { retryTimeOf } from './problem.ts'

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

const nothing = { value: null, error: null, isLoading: true }

/** The result of `load`, loaded again when `key` changes; the result of an older call is dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ key, ...nothing })
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

  const reload = useCallback(() => run(wanted.current), [run])
  useRepeated(answer.error, reload)
  const change = useCallback((next: (value: T) => T) => {
    setAnswer((before) => (before.value === null ? before : { ...before, value: next(before.value) }))
  }, [])
  return { ...answer, value: answer.key === key ? answer.value : null, reload, change }
}

const settleMilliseconds = 300

/** A value that is typed, once it has not changed for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMilliseconds)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

/** Repeats a load that failed: without a network when there is one, and after too many requests in its time. */
export function useRepeated(error: unknown, load: () => void): void {
  const latest = useRef(load)
  latest.current = load
  useEffect(() => {
    if (!error) return
    const again = () => latest.current()
    const at = retryTimeOf(error)
    const timer = at === null ? undefined : setTimeout(again, Date.parse(at) - Date.now())
    addEventListener('online', again)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', again)
    }
  }, [error])
}
