import { useState } from 'react'
import type { SignInUser } from '#client/sdk/types'

/** One attempt to come in at a time, and why the last one failed. */
export interface Entering {
  /** What is under way. */
  busy: string | null
  error: unknown
  attempt(what: string, act: () => Promise<SignInUser | undefined>): Promise<void>
  forget(): void
}

export function useEntering(onEnter: (user: SignInUser) => void): Entering {
  const [busy, setBusy] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  return {
    busy,
    error,
    async attempt(what, act) {
      setBusy(what)
      setError(null)
      try {
        const user = await act()
        if (user) onEnter(user)
      } catch (cause) {
        setError(cause)
      }
      setBusy(null)
    },
    forget: () => setError(null),
  }
}
