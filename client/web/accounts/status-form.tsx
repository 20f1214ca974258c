import { useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'

/** What the account says of the moment: an emoji and a few words. */
export function StatusForm() {
  const client = useClient()
  const tell = useTell()
  const own = useLoaded('status', async () => (await client.accounts.ownProfile()).user)
  const [draft, setDraft] = useState<{ status_emoji?: string; status_text?: string }>({})
  const { isBusy, problem, submit } = useSubmit(async () => {
    const { user } = await client.accounts.updateProfile(draft)
    own.change(() => user)
    setDraft({})
    tell('Saved.')
  })
  if (!own.value) return null
  const { status_emoji, status_text } = own.value

  return (
    <form className="stack" onSubmit={submit}>
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
        <button type="submit" className="button" aria-disabled={isBusy || undefined}>
          Set status
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}
