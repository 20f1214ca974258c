import { useClient } from '../connection/client.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { PeopleForm } from './people-form.tsx'

/** Adds people to a group by their names. */
export function AddPeople({ id }: { id: string }) {
  const client = useClient()
  const add = async (found: string[]) => {
    const { added, invited } = await client.rooms.addMembers({ id, addresses: found })
    return broughtIn(added.length, invited.length)
  }
  return (
    <PeopleForm
      title={t.people.add}
      field={t.people.field}
      hint={t.people.hint}
      maxLength={4_500}
      action={t.people.submit}
      onFound={add}
    />
  )
}

/** Friends are added, others are asked first. */
function broughtIn(added: number, invited: number): string {
  if (added === 0 && invited === 0) return t.people.alreadyIn
  const addedText = t.people.added({ count: added })
  if (invited === 0) return addedText
  const invitedText = t.people.invited({ count: invited })
  return added === 0 ? invitedText : t.people.addedAndInvited({ added: addedText, invited: invitedText })
}
