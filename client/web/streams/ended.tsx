import { useMemo, useRef, useState } from 'react'
import type { Client } from '#client/sdk/types'
import type { Message } from '#shared/api/rooms/message'
import type { PublicStream, StreamAsset, StreamState } from '#shared/api/streams/stream-records'
import { useClient } from '../connection/client.ts'
import { lengthInBytes } from '../kit/byte-length.ts'
import { isolated, lengthOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { momentOf } from '../kit/moment.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { streamTexts as t } from '../texts/streams.ts'
import styles from './ended.module.css'
import { ReadChat } from './read-chat.tsx'
import streamsStyles from './streams.module.css'
import { placeWords } from './use-stream.ts'

/** The moment that a recording shows now. */
export interface Replayed {
  from: string
  at: string
}

/** The end of a stream: why, and its recordings as they are made. */
export function Ended(props: {
  stream: PublicStream
  state: StreamState
  assets: readonly StreamAsset[]
  onReplay: (replayed: Replayed | null) => void
}) {
  const { stream, state, assets, onReplay } = props
  const [chosen, setChosen] = useState<string | null>(null)
  const video = useRef<HTMLVideoElement>(null)
  const asset = assets.find(({ id }) => id === chosen)
  const words = placeWords(state, false, 0)
  const choose = (id: string | null) => {
    setChosen(id)
    if (id === null) onReplay(null)
  }
  const follow = () => {
    if (!asset || !video.current) return
    const at = Date.parse(asset.recorded_from) + video.current.currentTime * 1_000
    onReplay({ from: asset.recorded_from, at: new Date(at).toISOString() })
  }
  if (asset?.playback_url)
    return (
      <div className={streamsStyles.player}>
        {/* biome-ignore lint/a11y/useMediaCaption: a livestream has no captions */}
        <video
          ref={video}
          controls
          autoPlay
          playsInline
          src={asset.playback_url}
          aria-label={t.recordings.of({ title: isolated(stream.title) })}
          onLoadedMetadata={follow}
          onTimeUpdate={follow}
          onSeeked={follow}
        />
        <button type="button" className={`button ${styles.playerBack}`} onClick={() => choose(null)}>
          <Icon name="back" /> {t.recordings.all}
        </button>
      </div>
    )
  return (
    <div className={streamsStyles.player}>
      <div className={streamsStyles.playerWords} role="status">
        <strong>{words?.title}</strong>
        <p>{words?.text}</p>
        {assets.length === 0 ? (
          <p>{t.recordings.none}</p>
        ) : (
          <ul className={styles.recordings} aria-label={t.recordings.list}>
            {assets.map((one) => (
              <Recording key={one.id} asset={one} onPlay={() => choose(one.id)} />
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}

function Recording({ asset, onPlay }: { asset: StreamAsset; onPlay: () => void }) {
  const { status, duration_seconds, size_bytes, recorded_from, playback_url, download_url } = asset
  const title = t.recordings.title({ time: momentOf(recorded_from) })
  if (status.phase === 'ready' || playback_url) {
    const facts = [
      status.phase === 'failed' && t.recordings.cut,
      duration_seconds && lengthOf(duration_seconds),
      size_bytes && lengthInBytes(size_bytes),
    ]
    return (
      <li>
        <span className="grow">
          {title}
          <small>{facts.filter(Boolean).join(', ')}</small>
        </span>
        {playback_url && (
          <button
            type="button"
            className="button small main"
            aria-label={t.recordings.playOne({ title })}
            onClick={onPlay}
          >
            <Icon name="play" /> {t.recordings.play}
          </button>
        )}
        {download_url && (
          <a className="button small" href={download_url} download aria-label={t.recordings.downloadOne({ title })}>
            {t.recordings.download}
          </a>
        )}
      </li>
    )
  }
  if (status.phase === 'failed')
    return (
      <li>
        <span className="grow">
          {title}
          <small>{status.error ? t.recordings.failedWhy({ why: status.error }) : t.recordings.failed}</small>
        </span>
      </li>
    )
  const percent = Math.round(status.progress * 100)
  return (
    <li>
      <span className="grow">
        {title}
        <small className="numerals">
          {status.phase === 'waiting' ? t.recordings.waits : t.recordings.making({ percent })}
        </small>
      </span>
      <progress aria-label={title} max={100} value={percent} />
    </li>
  )
}

const mostPages = 20

const roomOf = (id: string) => ({ type: 'stream', id }) as const

/** What had been said in the moment that a recording shows. */
export function ReplayedChat({ id, replayed, onClose }: { id: string; replayed: Replayed; onClose: () => void }) {
  const client = useClient()
  const { from, at } = replayed
  const all = useLoaded<readonly Message[]>(`${id} ${from}`, () => readSince(client, id, from))
  const until = useMemo(
    () => ({ ...all, value: all.value?.filter(({ created_at }) => created_at <= at) ?? null }),
    [all, at],
  )
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(from)) / 1_000))
  const minutes = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <main className="room" aria-label={t.chat.recording}>
      <header className="room-head">
        <div className="grow">
          <h1>{t.chat.at({ time: minutes })}</h1>
          <p className="room-facts">{t.chat.atHint}</p>
        </div>
        <button type="button" className="button small" onClick={onClose}>
          {t.chat.now}
        </button>
      </header>
      <ReadChat messages={until} empty={t.chat.emptyAt} />
    </main>
  )
}

/** All messages from a moment on, oldest first; of very long chats the newest. */
async function readSince(client: Client, id: string, from: string): Promise<readonly Message[]> {
  const found: Message[] = []
  let before: number | undefined
  for (let page = 0; page < mostPages; page++) {
    const older = before === undefined ? {} : { before_seq: before }
    const { messages, has_more } = await client.messages.history({ room: roomOf(id), limit: 100, ...older })
    found.unshift(...messages)
    before = messages[0]?.seq
    if (!has_more || before === undefined || (messages[0]?.created_at ?? '') < from) break
  }
  return found.filter(({ created_at }) => created_at >= from)
}
