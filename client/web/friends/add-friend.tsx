import { useAccount, useClient } from '../connection/client.ts'
import { PeopleForm } from '../rooms/people-form.tsx'
import { useFriends, withRequest } from './use-friends.ts'

/** Asks somebody to be friends, by their name, username or address. */
export function AddFriend() {
  const client = useClient()
  const account = useAccount()
  const { change, reload } = useFriends()
  const ask = async (found: string[], leave: (left: readonly string[]) => void) => {
    for (const [at, toAddress] of found.entries()) {
      const { request } = await client.friends.request({ toAddress })
      if (request.status === 'pending') change(withRequest(request, account))
      else reload()
      leave(found.slice(at + 1))
    }
    return found.length === 1 ? 'Asked.' : `${found.length} people asked.`
  }
  return (
    <PeopleForm
      title="Add a friend"
      field="Who to ask"
      hint="Name, @username or address"
      maxLength={500}
      action="Ask to be friends"
      onFound={ask}
    />
  )
}
