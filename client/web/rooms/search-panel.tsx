import { type FormEvent, useState } from 'react'
import type { Message } from '#shared/api/rooms/message'
import { useClient } from '../connection/client.ts'
import { useFocused } from '../kit/focus.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { FoundMessage } from './found-message.tsx'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'

interface Found {
  query: string
  messages: readonly Message[]
  searched: number
  /** Where the next page begins; null after the last. */
  next: number | null
}

export function SearchPanel() {
  const client = useClient()
  const field = useFocused<HTMLInputElement>()
  const { live } = useOpenRoom()
  const [words, setWords] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const look = async (query: string, before: Found | null) => {
    setBusy(true)
    setError(null)
    try {
      const before_seq = before?.next ?? undefined
      const more = await client.messages.search({ room: live.ref, query, before_seq })
      setFound({
        query,
        messages: [...(before?.messages ?? []), ...more.messages],
        searched: (before?.searched ?? 0) + more.searched,
        next: more.next_before_seq,
      })
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  const search = (event: FormEvent) => {
    event.preventDefault()
    setFound(null)
    void look(words.trim(), null)
  }

  return (
    <div className="panel-body">
      <form className="row" onSubmit={search}>
        <input
          dir="auto"
          ref={field}
          className="input"
          type="search"
          aria-label={t.search.field}
          placeholder={t.search.example}
          maxLength={200}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button type="submit" className="button" disabled={!words.trim()}>
          {t.search.submit}
        </button>
      </form>
      <Problem error={error} />
      {isBusy && !found && <Skeleton />}
      {!found && !isBusy && !error && (
        <Blank icon="search" title={t.search.empty}>
          <p>{t.search.emptyHint}</p>
        </Blank>
      )}
      {found && !isBusy && found.next === null && found.messages.length === 0 && (
        <Blank icon="search" title={t.search.none}>
          <p>{t.search.searched({ count: found.searched })}</p>
        </Blank>
      )}
      <ol className={styles.found} aria-label={t.search.results}>
        {found?.messages.map((message) => (
          <li key={message.id}>
            <FoundMessage message={message} />
          </li>
        ))}
      </ol>
      {found && found.next !== null && (
        <button type="button" className="button" disabled={isBusy} onClick={() => look(found.query, found)}>
          {t.search.older}
        </button>
      )}
    </div>
  )
}
