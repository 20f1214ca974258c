import { useState } from 'react'
import type { Client } from '#client/sdk/types'
import { AppError } from '#shared/errors'
import { useClient } from '../connection/client.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useSubmit } from '../kit/use-submit.ts'
import { roomTexts as t } from '../texts/rooms.ts'

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

const askedAtMost = 200
const isId = (word: string) => /^0x[0-9a-f]{40}$/i.test(word) || word.includes(':')

/** Reads a list of people, separated by commas: names of people in the public room, usernames or addresses. Returns their ids. */
export async function findPeople(client: Client, written: string): Promise<string[]> {
  const words = written
    .split(/[,\n]+/)
    .map((word) => word.trim())
    .filter(Boolean)
  if (words.every(isId)) return words
  const { members } = await client.rooms.members({ room: { type: 'alpha', id: null }, limit: askedAtMost })
  const find = async (word: string): Promise<string> => {
    if (isId(word)) return word
    const called = members.filter(({ name, username, user_address }) =>
      [nameOf(name, user_address), isolated(username ?? '')].some(
        (one) => one.toLowerCase() === isolated(word).toLowerCase(),
      ),
    )
    if (called.length > 1) throw new Error(t.people.ambiguous({ count: called.length, name: word }))
    if (called[0]) return called[0].user_address
    const { address } = await client.accounts.resolveUsername({ username: word.replace(/^@/, '') }).catch((error) => {
      const isUnknown = error instanceof AppError && (error.status === 404 || error.status === 400)
      throw isUnknown ? new Error(t.people.unknown({ name: word })) : error
    })
    return address
  }
  return Promise.all(words.map(find))
}
