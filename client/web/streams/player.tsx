import { useEffect, useRef, useState } from 'react'
import type { StreamView } from '#client/sdk/streams'
import type { PublicStream, StreamState } from '#shared/api/streams/stream-records'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { notPlaying, type Playing, play } from './play.ts'
import styles from './player.module.css'
import { PlayerControls, turnSound, usePlayback } from './player-controls.tsx'
import streamsStyles from './streams.module.css'
import { placeWords } from './use-stream.ts'

/** The picture of a stream, and words in its place while there is none. */
export function Player({ stream, state, isPreview = false, onPlaying }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const player = useRef<ReturnType<typeof play> | null>(null)
  const [hasPicture, setHasPicture] = useState(false)
  const { isMuted } = usePlayback({ video })
  const [playing, setPlaying] = useState(notPlaying)
  const now = useNowUntil(state.grace_until)
  const isOn = state.status === 'live' && state.reason !== 'waiting'
  const { whep_url, playback_url } = stream

  useEffect(() => {
    if (!isOn || !video.current) return
    const opened = play(video.current, { whep_url, playback_url }, (playing) => {
      if (playing.way === null) setHasPicture(false)
      setPlaying(playing)
      onPlaying(playing)
    })
    player.current = opened
    return () => {
      opened.close()
      player.current = null
      setHasPicture(false)
      onPlaying(notPlaying)
    }
  }, [isOn, whep_url, playback_url, onPlaying])

  const { reason } = state
  const lastReason = useRef(reason)
  useEffect(() => {
    if (lastReason.current === 'interrupted' && reason === 'live') player.current?.hurry()
    lastReason.current = reason
  }, [reason])

  const words = placeWords(state, hasPicture, now)
  return (
    <div ref={box} className={streamsStyles.player} {...(isPreview ? {} : asPlayer)}>
      <video
        ref={video}
        playsInline
        autoPlay
        muted
        aria-label={t.player.of({ title: isolated(stream.title) })}
        onPlaying={() => setHasPicture(true)}
        onTimeUpdate={() => setHasPicture(true)}
      />
      {words && (
        <div className={`${streamsStyles.playerWords} ${hasPicture ? 'over' : ''}`} role="status">
          <strong>{words.title}</strong>
          <p>{words.text}</p>
        </div>
      )}
      {hasPicture && !isPreview && (
        <PlayerControls
          video={video}
          box={box}
          playing={playing}
          onLive={() => player.current?.toLive()}
          onQuality={(quality) => player.current?.choose(quality)}
        />
      )}
      {hasPicture && isPreview && (
        <button
          type="button"
          className={`button ${styles.playerSound}`}
          aria-label={isMuted ? undefined : t.player.soundOff}
          title={isMuted ? undefined : t.player.soundOff}
          onClick={() => video.current && turnSound(video.current, isMuted)}
        >
          <Icon name={isMuted ? 'mute' : 'sound'} /> {isMuted && t.player.soundOn}
        </button>
      )}
    </div>
  )
}

/** The keys are heard while it has the focus. */
const asPlayer = { role: 'group', tabIndex: 0, 'aria-label': t.player.title } as const

interface PlayerProps {
  stream: PublicStream
  state: StreamState
  /** On the first page, with a button for the sound alone. */
  isPreview?: boolean
  onPlaying: (playing: Playing) => void
}

export type Shown = StreamView & { stream: PublicStream; state: StreamState }
