import { useClient } from '../connection/client.ts'
import { plural } from '../kit/format.ts'
import { PeopleForm } from './people-form.tsx'

/** Adds people to a group by their names. */
export function AddPeople({ id, onAdded }: { id: string; onAdded: () => void }) {
  const client = useClient()
  const add = async (found: string[]) => {
    const { added, invited } = await client.rooms.addMembers({ id, addresses: found })
    onAdded()
    return broughtIn(added.length, invited.length)
  }
  return (
    <PeopleForm
      title="Add people"
      field="People to add"
      hint="Names, @usernames or addresses"
      maxLength={4_500}
      action="Add"
      onFound={add}
    />
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
