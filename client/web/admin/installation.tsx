import { type FormEvent, useState } from 'react'
import type { Setting } from '#shared/api/platform/installation'
import { useClient } from '../connection/client.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { adminTexts } from '../texts/admin.ts'

const t = adminTexts.installation
const switches = ['registration_open', 'uploads_allowed'] as const

/** The settings of the installation that admins change while it runs. */
export function Installation() {
  const client = useClient()
  const attempt = useAttempt()
  const loaded = useLoaded('installation', async () => (await client.installation.settings({})).settings)
  const valueAt = (key: Setting['key']) => loaded.value?.find((one) => one.key === key)?.value
  const decide = async (key: Setting['key'], value: Setting['value']) => {
    const { setting } = await client.installation.changeSetting({ key, value })
    loaded.change((settings) => settings.map((one) => (one.key === key ? setting : one)))
  }
  return (
    <>
      <Problem error={loaded.error} onRetry={loaded.reload} />
      {loaded.value === null && !loaded.error && <Skeleton rows={3} />}
      {loaded.value && (
        <>
          {switches.map((key) => (
            <label className="check" key={key}>
              <input
                type="checkbox"
                checked={valueAt(key) === true}
                onChange={({ target }) => attempt(() => decide(key, target.checked))}
              />
              {t.switches[key]}
            </label>
          ))}
          <Notice said={String(valueAt('notice') ?? '')} onSay={(text) => decide('notice', text)} />
        </>
      )}
    </>
  )
}

function Notice({ said, onSay }: { said: string; onSay: (text: string | null) => Promise<unknown> }) {
  const tell = useTell()
  const attempt = useAttempt()
  const [text, setText] = useState(said)
  const save = (event: FormEvent) => {
    event.preventDefault()
    attempt(async () => {
      await onSay(text.trim() || null)
      tell(text.trim() ? t.notice.shown : t.notice.removed)
    })
  }
  return (
    <form className="stack" onSubmit={save}>
      <label className="field">
        <span>{t.notice.title}</span>
        <input
          dir="auto"
          className="input"
          maxLength={300}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <small>{t.notice.hint}</small>
      </label>
      {text.trim() !== said && (
        <div className="row end">
          <button type="submit" className="button main small">
            {text.trim() ? t.notice.show : t.notice.remove}
          </button>
        </div>
      )}
    </form>
  )
}
