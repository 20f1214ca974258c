import { type FormEvent, useState } from 'react'
import type { Setting } from '#shared/api/platform/installation'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { Broadcast } from './broadcast.tsx'

/** What admins decide of the installation while it runs. */
export function Installation({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Installation" onClose={onClose}>
      <div className="stack wide">
        <Settings />
        <Broadcast />
      </div>
    </Dialog>
  )
}

const switches = [
  { key: 'registration_open', title: 'Whoever signs in for the first time gets an account' },
  { key: 'uploads_allowed', title: 'Files can be uploaded' },
] as const

function Settings() {
  const client = useClient()
  const attempt = useAttempt()
  const loaded = useLoaded('installation', async () => (await client.installation.settings({})).settings)
  const valueAt = (key: Setting['key']) => loaded.value?.find((one) => one.key === key)?.value
  const decide = async (key: Setting['key'], value: Setting['value']) => {
    const { setting } = await client.installation.changeSetting({ key, value })
    loaded.change((settings) => settings.map((one) => (one.key === key ? setting : one)))
  }
  return (
    <section className="stack" aria-label="Settings">
      <Problem error={loaded.error} onRetry={loaded.reload} />
      {loaded.value === null && !loaded.error && <Skeleton rows={3} />}
      {loaded.value && (
        <>
          {switches.map(({ key, title }) => (
            <label className="check" key={key}>
              <input
                type="checkbox"
                checked={valueAt(key) === true}
                onChange={({ target }) => attempt(() => decide(key, target.checked))}
              />
              {title}
            </label>
          ))}
          <Notice said={String(valueAt('notice') ?? '')} onSay={(text) => decide('notice', text)} />
        </>
      )}
    </section>
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
      tell(text.trim() ? 'Everybody sees it from now on.' : 'Nothing is shown any more.')
    })
  }
  return (
    <form className="stack" onSubmit={save}>
      <label className="field">
        <span>Notice</span>
        <input
          dir="auto"
          className="input"
          maxLength={300}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <small>Shown to everybody who opens the page, above everything else.</small>
      </label>
      {text.trim() !== said && (
        <div className="row end">
          <button type="submit" className="button main small">
            {text.trim() ? 'Show it' : 'Take it away'}
          </button>
        </div>
      )}
    </form>
  )
}
