import { useAccount, useClient } from '../connection/client.ts'
import { PeopleForm } from '../rooms/people-form.tsx'
import { friendTexts as t } from '../texts/friends.ts'
import { useFriends, withRequest } from './use-friends.ts'

/** Sends friend requests to people, by their names, usernames or addresses. */
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
    return t.sent({ count: found.length })
  }
  return (
    <PeopleForm title={t.addTitle} field={t.addField} hint={t.addHint} maxLength={500} action={t.add} onFound={ask} />
  )
}
