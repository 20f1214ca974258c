import { useState } from 'react'
import type { Stream } from '#shared/api/streams/stream-records'
import { ActButton } from '../kit/act-button.tsx'
import { useTell } from '../kit/toasts.tsx'
import { streamTexts as t } from '../texts/streams.ts'
import styles from './key-fields.module.css'

/** What OBS asks for, in its words. Who has the key publishes, so it is shown only while a button is held. */
export function KeyFields({ stream }: { stream: Stream }) {
  const { stream_key = '', rtmp_url = '', ingest_url = '' } = stream
  const server = rtmp_url.endsWith(`/${stream_key}`) ? rtmp_url.slice(0, -stream_key.length - 1) : rtmp_url
  return (
    <details className={styles.keyFields}>
      <summary>{t.keys.title}</summary>
      <section aria-labelledby="obs-rtmp">
        <h3 id="obs-rtmp">{t.keys.custom}</h3>
        <Field label={t.keys.server} value={server} />
        <Field label={t.keys.key} value={stream_key} isSecret />
      </section>
      <section aria-labelledby="obs-whip">
        <h3 id="obs-whip">{t.keys.whip}</h3>
        <Field label={t.keys.whipServer} value={ingest_url} isSecret />
        <p className="hint">{t.keys.whipHint}</p>
      </section>
    </details>
  )
}

function Field({ label, value, isSecret = false }: { label: string; value: string; isSecret?: boolean }) {
  const tell = useTell()
  const [isHeld, setHeld] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(value)
    tell(t.keys.copied)
  }
  const hold = () => setHeld(true)
  const release = () => setHeld(false)
  return (
    <div className={`row ${styles.keyField}`}>
      <span className="label">{label}</span>
      <code className="grow" dir="ltr">
        {isSecret && !isHeld ? '••••••••••••' : value}
      </code>
      {isSecret && (
        <button
          type="button"
          className="button small"
          aria-label={t.keys.holdOne({ label })}
          onPointerDown={hold}
          onPointerUp={release}
          onPointerLeave={release}
          onKeyDown={({ key }) => [' ', 'Enter'].includes(key) && hold()}
          onKeyUp={release}
          onBlur={release}
        >
          {t.keys.hold}
        </button>
      )}
      <ActButton className="button small" aria-label={t.keys.copyOne({ label })} onPress={copy}>
        {t.keys.copy}
      </ActButton>
    </div>
  )
}
