import { type FormEvent, useState } from 'react'
import { useClient } from '../connection/client.ts'
import { plural } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { findPeople } from './find-people.ts'

/** Adds people to a group by their names. */
export function AddPeople({ id, onAdded }: { id: string; onAdded: () => void }) {
  const client = useClient()
  const tell = useTell()
  const [written, setWritten] = useState('')
  const [error, setError] = useState<unknown>(null)
  const add = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const { added, invited } = await client.rooms.addMembers({ id, addresses: await findPeople(client, written) })
      tell(broughtIn(added.length, invited.length))
      setError(null)
      setWritten('')
      onAdded()
    } catch (cause) {
      setError(cause)
    }
  }
  return (
    <form className="stack" aria-label="Add people" onSubmit={add}>
      <div className="row">
        <input
          className="input"
          aria-label="People to add"
          placeholder="Names, @usernames or addresses"
          maxLength={4_500}
          value={written}
          onChange={(event) => setWritten(event.target.value)}
        />
        <button type="submit" className="button" disabled={!written.trim()}>
          Add
        </button>
      </div>
      <Problem error={error} />
    </form>
  )
}

/** Friends are added, others are asked first. */
function broughtIn(added: number, invited: number): string {
  const people = (count: number) => plural(count, 'person', 'people')
  if (added === 0 && invited === 0) return 'They are in this group already.'
  if (invited === 0) return `${people(added)} added.`
  const asked = `${people(invited)} invited: who is no friend of yours says yes first.`
  return added === 0 ? asked : `${people(added)} added. ${asked}`
}
