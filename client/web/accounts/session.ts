import { createContext, useContext } from 'react'
import type { SignInUser } from '#client/sdk/types'

export interface ServerStatus {
  name: string
  version: string
  demo: boolean
}

export interface Session {
  /** The id by which everybody knows the account. */
  account: string
  user: SignInUser
  status: ServerStatus | null
  reload: () => void
  signOut: () => Promise<void>
}

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('Nobody is signed in above this component.')
  return session
}
