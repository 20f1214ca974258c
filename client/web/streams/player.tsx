import { useEffect, useRef, useState } from 'react'
import type { StreamView } from '#client/sdk/streams'
import type { PublicStream, StreamState } from '#shared/api/streams/stream-records'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { type Playing, play } from './play.ts'
import styles from './player.module.css'
import { placeWords } from './stream-words.ts'
import streamsStyles from './streams.module.css'

/** The picture of a stream, and words in its place while there is none. */
export function Player({ stream, state, onPlaying }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<ReturnType<typeof play> | null>(null)
  const [hasPicture, setHasPicture] = useState(false)
  const [isMuted, setMuted] = useState(true)
  const now = useNowUntil(state.grace_until)
  const isOn = state.status === 'live' && state.reason !== 'waiting'
  const { whep_url, playback_url } = stream

  useEffect(() => {
    if (!isOn || !video.current) return
    const opened = play(video.current, { whep_url, playback_url }, (playing) => {
      if (playing.way === null) setHasPicture(false)
      onPlaying(playing)
    })
    player.current = opened
    return () => {
      opened.close()
      player.current = null
      setHasPicture(false)
      onPlaying({ way: null, latency: null })
    }
  }, [isOn, whep_url, playback_url, onPlaying])

  const { reason } = state
  const lastReason = useRef(reason)
  useEffect(() => {
    if (lastReason.current === 'interrupted' && reason === 'live') player.current?.hurry()
    lastReason.current = reason
  }, [reason])

  const words = placeWords(state, hasPicture, now)
  const turnSound = () => {
    const element = video.current
    if (!element) return
    element.muted = !isMuted
    setMuted(!isMuted)
    if (isMuted) void element.play().catch(() => {})
  }
  return (
    <div className={streamsStyles.player}>
      <video
        ref={video}
        playsInline
        autoPlay
        muted={isMuted}
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
      {hasPicture && (
        <button
          type="button"
          className={`button ${styles.playerSound}`}
          aria-label={isMuted ? undefined : t.player.soundOff}
          title={isMuted ? undefined : t.player.soundOff}
          onClick={turnSound}
        >
          <Icon name={isMuted ? 'mute' : 'sound'} /> {isMuted && t.player.soundOn}
        </button>
      )}
    </div>
  )
}

interface PlayerProps {
  stream: PublicStream
  state: StreamState
  onPlaying: (playing: Playing) => void
}

export type Shown = StreamView & { stream: PublicStream; state: StreamState }
