import { type FormEvent, useState } from 'react'
import type { Message } from '#shared/api/messages'
import { useClient } from '../connection/client.ts'
import { fullTimeOf, nameOf, plural } from '../kit/format.ts'
import { Blank, Bones, Problem } from '../kit/notice.tsx'
import { useOpenRoom } from './room-context.ts'

interface Found {
  messages: readonly Message[]
  searched: number
}

export function SearchPanel() {
  const client = useClient()
  const { live, jumpTo } = useOpenRoom()
  const [words, setWords] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const search = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      setFound(await client.messages.search({ room: live.ref, query: words.trim() }))
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  return (
    <div className="panel-body">
      <form className="row" onSubmit={search}>
        <input
          className="input"
          type="search"
          aria-label="Words to look for"
          placeholder="Words in this room"
          minLength={2}
          maxLength={200}
          required
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button type="submit" className="button" disabled={words.trim().length < 2}>
          Search
        </button>
      </form>
      <Problem error={error} />
      {isBusy && <Bones />}
      {!found && !isBusy && !error && (
        <Blank icon="search" title="Search this room">
          <p>A message is found when it holds all of your words.</p>
        </Blank>
      )}
      {found && !isBusy && found.messages.length === 0 && (
        <Blank icon="search" title="Nothing found">
          <p>{plural(found.searched, 'message')} looked at.</p>
        </Blank>
      )}
      <ol className="found" aria-label="Results">
        {!isBusy &&
          found?.messages.map((message) => (
            <li key={message.id}>
              <button type="button" onClick={() => jumpTo(message.id, message.seq)}>
                <small>
                  {nameOf(message.sender.name, message.sender_address)} · {fullTimeOf(message.created_at)}
                </small>
                <span>{message.content}</span>
              </button>
            </li>
          ))}
      </ol>
    </div>
  )
}
