import { type FormEvent, useState } from 'react'
import { useAccount, useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { findPeople } from '../rooms/find-people.ts'
import { useFriends, withRequest } from './use-friends.ts'

/** Asks somebody to be friends, by their name, username or address. */
export function AddFriend() {
  const client = useClient()
  const account = useAccount()
  const tell = useTell()
  const { change, reload } = useFriends()
  const [written, setWritten] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const ask = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      const found = await findPeople(client, written)
      if (found.length === 0) throw new Error('Write a name, a username or an address.')
      for (const [at, toAddress] of found.entries()) {
        const { request } = await client.friends.request({ toAddress }).catch((cause: unknown) => {
          // Those before are asked, and are not asked again.
          if (at > 0) setWritten(found.slice(at).join(', '))
          throw cause
        })
        if (request.status === 'pending') change(withRequest(request, account))
        else reload()
      }
      setWritten('')
      tell(found.length === 1 ? 'Asked.' : `${found.length} people asked.`)
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }
  return (
    <form className="stack" aria-label="Add a friend" onSubmit={ask}>
      <div className="row">
        <input
          className="input grow"
          aria-label="Who to ask"
          placeholder="Name, @username or address"
          maxLength={500}
          required
          value={written}
          onChange={({ target }) => setWritten(target.value)}
        />
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          Ask to be friends
        </button>
      </div>
      <Problem error={error} />
    </form>
  )
}
