import { useState } from 'react'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useSubmit } from '../../kit/use-submit.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { useSession } from '../session.ts'

export function ProfileForm() {
  const client = useClient()
  const tell = useTell()
  const { user, reload } = useSession()
  const [displayName, setDisplayName] = useState(user.display_name ?? '')
  const [username, setUsername] = useState(user.username ?? '')
  const { problem, submit } = useSubmit(async () => {
    if (displayName.trim() !== (user.display_name ?? '')) {
      await client.accounts.updateProfile({ display_name: displayName.trim() || null })
    }
    const name = username.trim().replace('@', '').toLowerCase()
    if (name && name !== user.username) await client.accounts.claimUsername({ username: name })
    reload()
    tell(t.saved)
  })

  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{t.profile.displayName}</span>
        <input
          dir="auto"
          className="input"
          maxLength={50}
          value={displayName}
          onChange={(event) => setDisplayName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>{t.profile.username}</span>
        <input
          dir="auto"
          className="input"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          pattern="@?[A-Za-z0-9_]{3,20}"
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <small>{t.profile.usernameHint}</small>
      </label>
      <Problem error={problem} />
      <div className="row end">
        <button type="submit" className="button main">
          {t.save}
        </button>
      </div>
    </form>
  )
}
