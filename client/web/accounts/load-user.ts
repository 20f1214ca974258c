import type { Client, SignInUser } from '#client/sdk/types'
import { guestName, isGuest } from './wallets.ts'

/** Who is signed in. A guest is easier to talk to with a name, so one is given at the first time. */
export async function loadUser(client: Client): Promise<SignInUser | null> {
  const { user } = await client.identity.session()
  if (!user || user.display_name || user.username || !isGuest(user.wallet_address)) return user
  const display_name = guestName(user.wallet_address)
  return client.accounts.updateProfile({ display_name }).then(
    () => ({ ...user, display_name }),
    () => user,
  )
}
