import { type FormEvent, useEffect, useState } from 'react'
import { contactNoteChanged, noteLength } from '#shared/api/contact-notes'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'

/** What the account has noted about somebody. What another device writes takes the place of what was read, not of what is being written. */
export function ContactNote({ subject }: { subject: string }) {
  const client = useClient()
  const tell = useTell()
  const note = useLoaded(subject, async () => (await client.contactNotes.read({ subject })).notes ?? '')
  const [draft, setDraft] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const { change } = note
  useEffect(
    () =>
      client.on(contactNoteChanged, ({ subject_address, notes }) => {
        if (subject_address === subject) change(() => notes ?? '')
      }),
    [client, subject, change],
  )

  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || draft === null) return
    setBusy(true)
    try {
      const { notes } = await client.contactNotes.write({ subject, notes: draft })
      note.change(() => notes ?? '')
      setDraft(null)
      setProblem(null)
      tell(notes === null ? 'The note is taken away.' : 'The note is saved.')
    } catch (cause) {
      setProblem(cause)
    }
    setBusy(false)
  }

  const isChanged = draft !== null && draft !== note.value
  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <label className="field">
        <span>Your note</span>
        <textarea
          className="input"
          rows={2}
          maxLength={noteLength}
          readOnly={note.value === null}
          value={draft ?? note.value ?? ''}
          onChange={({ target }) => setDraft(target.value)}
        />
        <small>Only you see this.</small>
      </label>
      <Problem error={note.error} onRetry={note.reload} />
      <Problem error={problem} />
      {isChanged && (
        <div className="row end">
          <button type="button" className="button small" onClick={() => setDraft(null)}>
            Discard
          </button>
          <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
            Save note
          </button>
        </div>
      )}
    </form>
  )
}
