import type { Client, SignInUser } from '#client/sdk/types'
import { madeUpName } from '#shared/kit/person-name'
import { isGuest } from './sign-in/guest.ts'

type SessionMethod = Awaited<ReturnType<Client['identity']['session']>>['authMethod']

export interface Known {
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
