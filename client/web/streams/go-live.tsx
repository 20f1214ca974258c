import { type FormEvent, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { linkTo } from '#shared/kit/pages'
import { AgentHead } from '../agents/agent-head.tsx'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { goTo } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { streamProblems } from './stream-words.ts'
import styles from './streams.module.css'

/** Opens a stream of one's own; its page is where it is published. */
export function GoLive() {
  const client = useClient()
  const { reload } = useRoomList()
  const tell = useTell()
  const [title, setTitle] = useState('')
  const [record, setRecord] = useState(false)
  const beta = useLoaded('beta', async () => (await client.betaAccess.get()).hasBetaAccess)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const open = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      const wanted = title.trim()
      const { stream, existing } = await client.streams.create({ record, ...(wanted ? { title: wanted } : {}) })
      if (existing) tell(t.create.existing)
      reload()
      goTo({ type: 'stream', id: stream.id })
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }
  return (
    <main className="room" aria-label={t.goLive}>
      <AgentHead
        title={t.goLive}
        back={{
          title: t.create.back,
          isAlways: true,
          go: () => navigate(linkTo('live')),
        }}
      />
      <form className={`${styles.livePage} narrow stack wide`} onSubmit={open}>
        <label className="field">
          <span>{t.create.title}</span>
          <input
            dir="auto"
            className="input"
            maxLength={100}
            placeholder={t.create.titleHint}
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </label>
        {beta.value && (
          <label className="check">
            <input type="checkbox" checked={record} onChange={({ target }) => setRecord(target.checked)} />
            {t.create.record}
          </label>
        )}
        <p className="hint" id="go-live-hint">
          {t.create.hint}
        </p>
        <Problem error={error} words={streamProblems} />
        <div className="row">
          <button
            type="submit"
            className="button main"
            aria-describedby="go-live-hint"
            aria-disabled={isBusy || undefined}
          >
            {t.create.next}
          </button>
        </div>
      </form>
    </main>
  )
}
