import { useCallback, useState } from 'react'
import type { PublicStream } from '#shared/api/stream-records'
import { Avatar } from '../kit/avatar.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { Badge } from './badge.tsx'
import styles from './live-stage.module.css'
import type { Playing } from './play.ts'
import { Player } from './player.tsx'
import { ReadChat, useNewest } from './read-chat.tsx'
import streamsStyles from './streams.module.css'
import { useLiveNow, useStream } from './use-stream.ts'

const mostOthers = 3
type Look = (stream?: string) => void

/** Of the first page: what is live now, its chat beside it, and who else is live. */
export function LiveStage({ onLook }: { onLook: Look }) {
  const streams = useLiveNow()?.streams ?? null
  const [first, ...others] = streams ?? []
  if (streams === null) return <Skeleton label="Looking who is live" />
  if (!first) return <Blank icon="play" title="Nobody is live at the moment" />
  return (
    <>
      <Shown key={first.id} stream={first} onLook={onLook} />
      {others.length > 0 && (
        <ul className={styles.liveOthers} aria-label="Also live">
          {others.slice(0, mostOthers).map((stream) => (
            <li key={stream.id}>
              <StreamLink stream={stream} onLook={onLook} />
              <small className="numerals">{stream.viewer_count} watching</small>
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
            <span className="numerals">{view?.counts?.viewers ?? stream.viewer_count} watching</span>
            {latency !== null && <span className="numerals">{Math.max(0.1, latency).toFixed(1)} s behind</span>}
          </p>
        </div>
        <button type="button" className="button small plain" onClick={() => setPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? 'Play' : 'Pause'}
        </button>
      </header>
      <div className={streamsStyles.livePreviewStage}>
        {isPaused ? (
          <div className={streamsStyles.player}>
            <div className={streamsStyles.playerWords}>
              <strong>Paused</strong>
            </div>
          </div>
        ) : (
          <Player stream={stream} state={state} onPlaying={hear} />
        )}
        <div className={streamsStyles.livePreviewChat}>
          <ReadChat messages={newest} empty="Nothing said yet" />
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
