import { createContext, useContext } from 'react'
import type { SignInUser } from '#client/sdk/types'
import type { AuthMethod } from '#shared/api/people/identity'
import type { Known } from './load-user.ts'

export interface ServerStatus {
  name: string
  version: string
  demo: boolean
  media: string | null
  sign_in: readonly AuthMethod[]
  mailbox: string | null
  contact: boolean
  phone: boolean
  phone_mailbox: string | null
  meetings: string | null
  notice: string | null
}

export interface Session {
  /** The public id of the account. */
  account: string
  user: SignInUser
  /** The method of this sign-in; null until the server has answered. */
  method: Known['method'] | null
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
