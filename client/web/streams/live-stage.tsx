import { useCallback, useState } from 'react'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { Avatar } from '../kit/avatar.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import styles from './live-stage.module.css'
import type { Playing } from './play.ts'
import { Player } from './player.tsx'
import { ReadChat, useNewest } from './read-chat.tsx'
import streamsStyles from './streams.module.css'
import { behindText, useLiveNow, useStream } from './use-stream.ts'

const mostOthers = 3
type Look = (stream?: string) => void

/** Of the first page: what is live now, its chat beside it, and who else is live. */
export function LiveStage({ onLook }: { onLook: Look }) {
  const streams = useLiveNow()?.streams ?? null
  const [first, ...others] = streams ?? []
  if (streams === null) return <Skeleton label={t.looking} />
  if (!first) return <Blank icon="play" title={t.nobody} />
  return (
    <>
      <Shown key={first.id} stream={first} onLook={onLook} />
      {others.length > 0 && (
        <ul className={styles.liveOthers} aria-label={t.alsoLive}>
          {others.slice(0, mostOthers).map((stream) => (
            <li key={stream.id}>
              <StreamLink stream={stream} onLook={onLook} />
              <small className="numerals">{t.watching({ count: stream.viewer_count })}</small>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const isStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches

function Shown({ stream, onLook }: { stream: PublicStream; onLook: Look }) {
  const { id, streamer } = stream
  const view = useStream(id)
  const newest = useNewest(id)
  const [isPaused, setPaused] = useState(isStill)
  const [latency, setLatency] = useState<number | null>(null)
  const hear = useCallback((playing: Playing) => setLatency(playing.latency), [])
  const state = view?.state ?? { ...stream, stream_id: id, v: 0 }
  return (
    <>
      <header className={`row ${streamsStyles.livePreviewHead}`}>
        <Avatar id={streamer.address} name={streamer.display_name} />
        <div className="grow">
          <StreamLink stream={stream} onLook={onLook} />
          <p className={streamsStyles.stageFacts}>
            <Badge state={state} />
            <span>{nameOf(streamer.display_name, streamer.address)}</span>
            <span className="numerals">{t.watching({ count: view?.counts?.viewers ?? stream.viewer_count })}</span>
            {latency !== null && <span className="numerals">{behindText(latency)}</span>}
          </p>
        </div>
        <button type="button" className="button small plain" onClick={() => setPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? t.player.play : t.player.pause}
        </button>
      </header>
      <div className={streamsStyles.livePreviewStage}>
        {isPaused ? (
          <div className={streamsStyles.player}>
            <div className={streamsStyles.playerWords}>
              <strong>{t.player.paused}</strong>
            </div>
          </div>
        ) : (
          <Player stream={stream} state={state} isPreview onPlaying={hear} />
        )}
        <div className={streamsStyles.livePreviewChat}>
          <ReadChat messages={newest} empty={t.chat.empty} />
        </div>
      </div>
    </>
  )
}

function StreamLink({ stream: { id, title }, onLook }: { stream: PublicStream; onLook: Look }) {
  return (
    <a
      className={styles.livePreviewTitle}
      href={linkToRoom({ type: 'stream', id })}
      onClick={(event) => {
        event.preventDefault()
        onLook(id)
      }}
    >
      {isolated(title)}
    </a>
  )
}
