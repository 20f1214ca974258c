import { type FormEvent, useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'

/** What the account says of the moment: an emoji and a few words. */
export function StatusForm() {
  const client = useClient()
  const tell = useTell()
  const own = useLoaded('status', async () => (await client.accounts.ownProfile()).user)
  const [draft, setDraft] = useState<{ status_emoji?: string; status_text?: string }>({})
  const [error, setError] = useState<unknown>(null)
  if (!own.value) return null
  const { status_emoji, status_text } = own.value

  const save = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const { user } = await client.accounts.updateProfile(draft)
      own.change(() => user)
      setDraft({})
      setError(null)
      tell('Saved.')
    } catch (cause) {
      setError(cause)
    }
  }

  return (
    <form className="stack" onSubmit={(event) => void save(event)}>
      <div className="row">
        <input
          className="input"
          aria-label="Emoji of your status"
          placeholder="🌴"
          size={3}
          maxLength={16}
          value={draft.status_emoji ?? status_emoji ?? ''}
          onChange={({ target }) => setDraft({ ...draft, status_emoji: target.value.trim() })}
        />
        <input
          className="input grow"
          aria-label="Your status"
          placeholder="On holiday until Monday"
          maxLength={80}
          value={draft.status_text ?? status_text ?? ''}
          onChange={({ target }) => setDraft({ ...draft, status_text: target.value })}
        />
        <button type="submit" className="button">
          Set status
        </button>
      </div>
      <Problem error={error} />
    </form>
  )
}
