import { type RefObject, useEffect, useRef, useState } from 'react'
import type { PublicStream, StreamState } from '#shared/api/streams/stream-records'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { turnFullScreen, turnPictureInPicture, useFullScreen } from '../kit/full-screen.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import { controlTexts } from '../texts/controls.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { notPlaying, type Playing, play } from './play.ts'
import styles from './player.module.css'
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

const volumeStep = 0.1
const lateSeconds = 8

interface PlayerParts {
  video: RefObject<HTMLVideoElement | null>
  box: RefObject<HTMLDivElement | null>
}

/** A video as it plays now. */
function usePlayback({ video }: Pick<PlayerParts, 'video'>) {
  const [playback, setPlayback] = useState({ isPaused: false, isMuted: true, volume: 1 })
  useEffect(() => {
    const element = video.current
    if (!element) return
    const look = () =>
      setPlayback({ isPaused: element.paused, isMuted: element.muted || element.volume === 0, volume: element.volume })
    const names = ['play', 'pause', 'volumechange'] as const
    for (const name of names) element.addEventListener(name, look)
    look()
    return () => {
      for (const name of names) element.removeEventListener(name, look)
    }
  }, [video])
  return playback
}

/** Plays on; sound that was off goes on as loud as it was, or is heard at all. */
function turnSound(video: HTMLVideoElement, isOn: boolean): void {
  video.muted = !isOn
  if (!isOn) return
  if (video.volume === 0) video.volume = 0.5
  void video.play().catch(() => {})
}

/** What one does with the picture of a stream: by buttons here, and by keys while the player has the focus. */
function PlayerControls(
  props: PlayerParts & {
    playing: Playing
    onLive: () => void
    onQuality: (quality: number) => void
  },
) {
  const { video, box, playing, onLive, onQuality } = props
  const { isPaused, isMuted, volume } = usePlayback({ video })
  const isWhole = useFullScreen()
  const tell = useTell()
  const attempt = useAttempt()
  const isLate = isPaused || (playing.latency ?? 0) > lateSeconds

  const toLive = () => {
    onLive()
    void video.current?.play().catch(() => {})
  }
  const turnPlay = () => {
    if (!video.current) return
    if (isPaused) void video.current.play().catch(() => {})
    else video.current.pause()
  }
  const turn = () => video.current && turnSound(video.current, isMuted)
  const setVolume = (next: number) => {
    if (!video.current) return
    video.current.volume = Math.min(1, Math.max(0, next))
    video.current.muted = next <= 0
  }
  const turnWhole = async () => box.current && turnFullScreen(box.current)
  const turnApart = async () => video.current && turnPictureInPicture(video.current)
  const share = async () => {
    await navigator.clipboard.writeText(location.origin + location.pathname)
    tell(controlTexts.copied.link)
  }

  const acts: Readonly<Record<string, () => void>> = {
    ' ': turnPlay,
    k: turnPlay,
    m: turn,
    f: () => attempt(turnWhole),
    l: toLive,
    arrowup: () => setVolume((isMuted ? 0 : volume) + volumeStep),
    arrowdown: () => setVolume((isMuted ? 0 : volume) - volumeStep),
  }
  useEffect(() => {
    const player = box.current
    if (!player) return
    const press = (event: KeyboardEvent) => {
      const { key, target, altKey, ctrlKey, metaKey } = event
      // A control inside keeps its own keys.
      const isOwn = target === player || (key.length === 1 && key !== ' ' && target instanceof HTMLButtonElement)
      const act = acts[key.toLowerCase()]
      if (!act || !isOwn || altKey || ctrlKey || metaKey) return
      event.preventDefault()
      event.stopPropagation()
      act()
    }
    player.addEventListener('keydown', press)
    return () => player.removeEventListener('keydown', press)
  })

  return (
    <div className={styles.controls}>
      <Control
        icon={isPaused ? 'play' : 'pause'}
        title={isPaused ? t.player.play : t.player.pause}
        onPress={turnPlay}
      />
      <Control
        icon={isMuted ? 'mute' : 'sound'}
        title={isMuted ? t.player.soundOn : t.player.soundOff}
        onPress={turn}
        isNamed={isMuted}
      />
      <input
        type="range"
        className={styles.volume}
        aria-label={t.player.volume}
        min={0}
        max={1}
        step={volumeStep}
        value={isMuted ? 0 : volume}
        onChange={({ target }) => setVolume(target.valueAsNumber)}
      />
      {isLate && <Control icon="play" title={t.player.toLive} onPress={toLive} isNamed />}
      <span className="grow" />
      {playing.qualities.length > 1 && (
        <select
          className={`input small ${styles.quality}`}
          aria-label={t.player.quality}
          onChange={({ target }) => onQuality(Number(target.value))}
        >
          <option value={-1}>{t.player.automatic}</option>
          {playing.qualities.map((height, at) => (
            <option key={height} value={at}>
              {t.player.lines({ height })}
            </option>
          ))}
        </select>
      )}
      <ActButton className={styles.control} aria-label={t.player.share} title={t.player.share} onPress={share}>
        <Icon name="link" />
      </ActButton>
      {document.pictureInPictureEnabled && (
        <Control icon="apart" title={controlTexts.apart} onPress={() => attempt(turnApart)} />
      )}
      {document.fullscreenEnabled && (
        <Control
          icon="whole"
          title={isWhole ? controlTexts.leaveWhole : controlTexts.whole}
          onPress={() => attempt(turnWhole)}
        />
      )}
    </div>
  )
}

function Control(props: { icon: IconName; title: string; isNamed?: boolean; onPress: () => void }) {
  const { icon, title, isNamed = false, onPress } = props
  return (
    <button
      type="button"
      className={styles.control}
      aria-label={isNamed ? undefined : title}
      title={isNamed ? undefined : title}
      onClick={onPress}
    >
      <Icon name={icon} />
      {isNamed && <span>{title}</span>}
    </button>
  )
}
