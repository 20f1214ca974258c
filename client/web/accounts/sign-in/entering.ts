import { useRef, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'

/** Runs one attempt to sign in at a time, and holds why the last one failed. */
export interface Entering {
  /** The attempt that is in progress. */
  busy: string | null
  error: unknown
  attempt(what: string, act: () => Promise<SignInUser | undefined>): Promise<void>
  /** Stops waiting for the attempt in progress, and clears the last failure. */
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
