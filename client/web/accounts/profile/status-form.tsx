import { useState } from 'react'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useSubmit } from '../../kit/use-submit.ts'
import { settingTexts as t } from '../../texts/settings.ts'

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
    tell(t.saved)
  })
  if (!own.value) return null
  const { status_emoji, status_text } = own.value

  return (
    <form className="stack" aria-label={t.status.title} onSubmit={submit}>
      <div className="row">
        <label className="field emoji-field">
          <span>{t.status.emoji}</span>
          <input
            dir="auto"
            className="input"
            placeholder="🌴"
            maxLength={16}
            value={draft.status_emoji ?? status_emoji ?? ''}
            onChange={({ target }) => setDraft({ ...draft, status_emoji: target.value.trim() })}
          />
        </label>
        <label className="field grow">
          <span>{t.status.text}</span>
          <input
            dir="auto"
            className="input"
            placeholder={t.status.example}
            maxLength={80}
            value={draft.status_text ?? status_text ?? ''}
            onChange={({ target }) => setDraft({ ...draft, status_text: target.value })}
          />
        </label>
      </div>
      <div className="row end">
        <button type="submit" className="button" aria-disabled={isBusy || undefined}>
          {t.status.save}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}
