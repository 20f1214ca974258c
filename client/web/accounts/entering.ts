import { useRef, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'

/** One attempt to come in at a time, and why the last one failed. */
export interface Entering {
  /** What is under way. */
  busy: string | null
  error: unknown
  attempt(what: string, act: () => Promise<SignInUser | undefined>): Promise<void>
  /** Waits no longer for what is under way, and forgets how the last one failed. */
  forget(): void
}

export function useEntering(onEnter: (user: SignInUser) => void): Entering {
  const [busy, setBusy] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const runs = useRef(0)
  const start = (what: string | null) => {
    runs.current += 1
    setBusy(what)
    setError(null)
    return runs.current
  }
  return {
    busy,
    error,
    async attempt(what, act) {
      const ours = start(what)
      const settle = (cause: unknown) => {
        if (runs.current !== ours) return
        setError(cause)
        setBusy(null)
      }
      try {
        const user = await act()
        if (user) onEnter(user)
        settle(null)
      } catch (cause) {
        settle(cause)
      }
    },
    forget: () => void start(null),
  }
}
