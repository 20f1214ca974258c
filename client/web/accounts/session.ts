import { createContext, useContext } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import type { AuthMethod } from '#shared/api/people/identity'
import { madeUpName } from '#shared/kit/person-name'
import { isGuest } from './sign-in/guest.ts'

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

type SessionMethod = Awaited<ReturnType<Client['identity']['session']>>['authMethod']

interface Known {
  user: SignInUser
  method: SessionMethod
}

/** The account that is signed in, and by which method. A guest without a name is given one at the first sign-in. */
export async function loadUser(client: Client): Promise<Known | null> {
  const { user, authMethod: method } = await client.identity.session()
  if (!user) return null
  if (user.display_name || user.username || !isGuest(user.wallet_address)) return { user, method }
  const display_name = madeUpName(user.wallet_address)
  return client.accounts.updateProfile({ display_name }).then(
    () => ({ user: { ...user, display_name }, method }),
    () => ({ user, method }),
  )
}

interface Session {
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
