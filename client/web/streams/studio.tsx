import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { StreamCount, StreamHealth } from '#client/sdk/streams'
import type { PublicStream, Stream, StreamState } from '#shared/api/streams/stream-records'
import { Sparkline } from '../admin/sparkline.tsx'
import { useClient } from '../connection/client.ts'
import { DeviceButtons, DeviceNotes, ShareButton } from '../devices/device-buttons.tsx'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { type Broadcast, type BroadcastState, broadcastTo, type Source } from './broadcast.ts'
import keyFieldsStyles from './key-fields.module.css'
import streamsStyles from './streams.module.css'
import styles from './studio.module.css'
import { ownWords, placeWords } from './use-stream.ts'

const sources: readonly Source[] = ['camera', 'screen', 'test']

/** What the streamer sees of a stream: the own picture, how it is published, and who watches. */
export function Studio(props: {
  stream: PublicStream
  state: StreamState
  counts: StreamCount | null
  health: StreamHealth | null
}) {
  const { stream, state, counts, health } = props
  const { id } = stream
  const client = useClient()
  const broadcast = broadcastTo(id)
  const sent = useSyncExternalStore(broadcast.subscribe, () => broadcast.state)
  const tracks = useSyncExternalStore(broadcast.own.subscribe, () => broadcast.own.state)
  const own = useLoaded(id, async () => (await client.streams.get({ id })).stream)
  const now = useNowUntil(state.grace_until)
  const url = own.value?.ingest_url ?? null
  const isElsewhere = sent.media === null && state.reason === 'live'
  const words = placeWords(state, true, now)

  const take = async (source: Source) => {
    await broadcast.open(source)
    if (source === 'test' && url !== null) void broadcast.publish(url)
  }
  const end = async () => {
    await client.streams.end({ id })
    broadcast.stop()
  }
  return (
    <div className={streamsStyles.studio}>
      <div className={streamsStyles.player}>
        {sent.media ? <Preview media={sent.media} /> : null}
        <div className={`${streamsStyles.playerWords} ${sent.media ? 'over' : ''}`} role="status">
          {sent.media ? (
            <strong>{t.phases[sent.phase]}</strong>
          ) : (
            <>
              <strong>{isElsewhere ? t.studio.live : (words?.title ?? t.studio.live)}</strong>
              <p>{isElsewhere ? t.studio.elsewhere : t.studio.hint}</p>
            </>
          )}
        </div>
      </div>
      <div className={styles.studioSide}>
        <p className="numerals">{ownWords(state, health, Date.now())}</p>
        <Problem error={own.error} onRetry={own.reload} />
        {sent.problem && <Problem error={new Error(sent.problem)} />}
        {state.reason === 'interrupted' && words && (
          <p className="banner" role="status">
            <Icon name="warn" />
            <span>
              {words.title}. {words.text}
            </span>
          </p>
        )}
        {sent.media && sent.source !== 'test' && (
          <>
            <div className="row wrap">
              <DeviceButtons own={broadcast.own} tracks={tracks} />
              <ShareButton own={broadcast.own} isSharing={tracks.screen !== null} hasSound />
            </div>
            <DeviceNotes tracks={tracks} />
          </>
        )}
        <div className="row wrap">
          <Sending broadcast={broadcast} sent={sent} url={url} onTake={take} />
          <span className="grow" />
          <ConfirmButton title={t.studio.end} question={confirmationTexts.stream} onConfirm={end} />
        </div>
        {counts && <Figures counts={counts} />}
        {own.value && <KeyFields stream={own.value} />}
      </div>
    </div>
  )
}

function Sending(props: {
  broadcast: Broadcast
  sent: BroadcastState
  url: string | null
  onTake: (source: Source) => Promise<void>
}) {
  const { broadcast, sent, url, onTake } = props
  if (sent.media === null)
    return sources.map((source) => (
      <ActButton key={source} className="button small" disabled={url === null} onPress={() => onTake(source)}>
        {t.sources[source]}
      </ActButton>
    ))
  return (
    <>
      {sent.phase === 'off' && (
        <button
          type="button"
          className="button small main"
          disabled={url === null}
          onClick={() => url !== null && void broadcast.publish(url)}
        >
          <Icon name="play" /> {t.studio.send}
        </button>
      )}
      <button type="button" className="button small" onClick={broadcast.stop}>
        <Icon name="stop" /> {t.studio.stop}
      </button>
    </>
  )
}

function Preview({ media }: { media: MediaStream }) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    if (video.current) video.current.srcObject = media
  }, [media])
  return <video ref={video} muted autoPlay playsInline aria-label={t.studio.own} />
}

const shownCounts = 40

/** Who watches now, the most at once, everybody who has, and how the first of these went. */
function Figures({ counts }: { counts: StreamCount }) {
  const { v, viewers, peak, unique } = counts
  const [values, setValues] = useState<readonly number[]>([])
  // biome-ignore lint/correctness/useExhaustiveDependencies: one point for each count that arrives
  useEffect(() => setValues((before) => [...before, viewers].slice(-shownCounts)), [v, viewers])
  return (
    <dl className={styles.figures}>
      <div>
        <dt>{t.studio.now}</dt>
        <dd className="numerals">
          {viewers} {values.length > 1 && <Sparkline values={values} slots={shownCounts} />}
        </dd>
      </div>
      <div>
        <dt>{t.studio.peak}</dt>
        <dd className="numerals">{peak}</dd>
      </div>
      <div>
        <dt>{t.studio.all}</dt>
        <dd className="numerals">{unique}</dd>
      </div>
    </dl>
  )
}

/** What OBS asks for, in its words. Who has the key publishes, so it is shown only while a button is held. */
function KeyFields({ stream }: { stream: Stream }) {
  const { stream_key = '', rtmp_url = '', ingest_url = '' } = stream
  const server = rtmp_url.endsWith(`/${stream_key}`) ? rtmp_url.slice(0, -stream_key.length - 1) : rtmp_url
  return (
    <details className={keyFieldsStyles.keyFields}>
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
    <div className={`row ${keyFieldsStyles.keyField}`}>
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
