import { useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useSubmit } from '../kit/use-submit.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { findPeople } from './find-people.ts'

interface PeopleFormProps {
  title: string
  /** What the field is called, what is shown in it while it is empty, and how much it takes. */
  field: string
  hint: string
  maxLength: number
  /** What the button says. */
  action: string
  /** Returns the message of success. `leave` keeps the names that are left in the field, also if it fails then. */
  onFound: (people: string[], leave: (left: readonly string[]) => void) => Promise<string>
}

/** Finds people by what is written, their names, usernames or addresses, and does something with them. */
export function PeopleForm({ title, field, hint, maxLength, action, onFound }: PeopleFormProps) {
  const client = useClient()
  const tell = useTell()
  const [written, setWritten] = useState('')
  const leave = (left: readonly string[]) => setWritten(left.join(', '))
  const { isBusy, problem, submit } = useSubmit(async () => {
    const found = await findPeople(client, written)
    if (found.length === 0) throw new Error(t.people.missing)
    tell(await onFound(found, leave))
    setWritten('')
  })
  return (
    <form className="stack" aria-label={title} onSubmit={submit}>
      <div className="row">
        <input
          dir="auto"
          className="input grow"
          aria-label={field}
          placeholder={hint}
          maxLength={maxLength}
          required
          value={written}
          onChange={({ target }) => setWritten(target.value)}
        />
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {action}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}
