import { useEffect, useState } from 'react'
import { contactNoteChanged, noteLength } from '#shared/api/people/contact-notes'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useSubmit } from '../../kit/use-submit.ts'
import { peopleTexts as t } from '../../texts/people.ts'

/** What the account has noted about somebody. What another device writes takes the place of what was read, not of what is being written. */
export function ContactNote({ subject }: { subject: string }) {
  const client = useClient()
  const tell = useTell()
  const note = useLoaded(subject, async () => (await client.contactNotes.read({ subject })).notes ?? '')
  const [draft, setDraft] = useState<string | null>(null)
  const { change } = note
  useEffect(
    () =>
      client.on(contactNoteChanged, ({ subject_address, notes }) => {
        if (isSameAccount(subject_address, subject)) change(() => notes ?? '')
      }),
    [client, subject, change],
  )

  const { isBusy, problem, submit } = useSubmit(async () => {
    if (draft === null) return
    const { notes } = await client.contactNotes.write({ subject, notes: draft })
    note.change(() => notes ?? '')
    setDraft(null)
    tell(notes === null ? t.note.removed : t.note.saved)
  })

  const isChanged = draft !== null && draft !== note.value
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{t.note.field}</span>
        <textarea
          dir="auto"
          className="input"
          rows={2}
          maxLength={noteLength}
          readOnly={note.value === null}
          value={draft ?? note.value ?? ''}
          onChange={({ target }) => setDraft(target.value)}
        />
        <small>{t.note.hint}</small>
      </label>
      <Problem error={note.error} onRetry={note.reload} />
      <Problem error={problem} />
      {isChanged && (
        <div className="row end">
          <button type="button" className="button small" onClick={() => setDraft(null)}>
            {t.note.discard}
          </button>
          <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
            {t.note.save}
          </button>
        </div>
      )}
    </form>
  )
}
