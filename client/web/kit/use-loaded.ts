import { useCallback, useEffect, useRef, useState } from 'react'
import { waitOf } from './problem.ts'

/** The state of a list: its items, or that it loads or failed. */
export interface Listing<T> {
  value: T | null
  error: unknown
  isLoading: boolean
  /** When what was too much at once is asked for again by itself. */
  againAt?: string | null
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
  againAt: string | null
}

const nothing = { value: null, error: null, isLoading: true, againAt: null }

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
      setAnswer((before) => ({ ...before, key: asked, error: null, isLoading: false, againAt: null, ...found }))
    }
    setAnswer((before) => ({
      ...before,
      key: asked,
      value: before.key === asked ? before.value : null,
      isLoading: true,
    }))
    latest.current().then(
      (value) => settle({ value }),
      (error) => settle({ error, againAt: timeAfter(error) }),
    )
  }, [])

  useEffect(() => run(key), [key, run])

  /** What failed without a network is asked for again when there is one, and what was too much at once in its time. */
  const { error, againAt } = answer
  useEffect(() => {
    if (error === null) return
    const again = () => run(wanted.current)
    const timer = againAt ? setTimeout(again, Date.parse(againAt) - Date.now()) : undefined
    addEventListener('online', again)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', again)
    }
  }, [error, againAt, run])

  const reload = useCallback(() => run(wanted.current), [run])
  const change = useCallback((next: (value: T) => T) => {
    setAnswer((before) => (before.value === null ? before : { ...before, value: next(before.value) }))
  }, [])
  return { ...answer, value: answer.key === key ? answer.value : null, reload, change }
}

function timeAfter(error: unknown): string | null {
  const seconds = waitOf(error)
  return seconds === null ? null : new Date(Date.now() + seconds * 1_000).toISOString()
}
