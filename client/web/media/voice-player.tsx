import { useEffect, useRef, useState } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { mediaTexts as t } from '../texts/media.ts'
import mediaStyles from './media.module.css'
import { MediaFault } from './media-fault.tsx'
import { useObjectUrl } from './use-object-url.ts'
import styles from './voice-player.module.css'

let playing: HTMLAudioElement | null = null

/** Plays one sound of the page at a time. `seconds` is its length, as the message tells it until the browser knows. */
function usePlayback(src: string | null, seconds: number) {
  const audio = useRef<HTMLAudioElement | null>(null)
  const [state, setState] = useState({ isPlaying: false, isFaulty: false, at: 0 })
  useEffect(() => {
    if (!src) return
    const element = new Audio(src)
    const note = (next: Partial<typeof state>) => setState((before) => ({ ...before, ...next }))
    element.preload = 'metadata'
    element.ontimeupdate = () => note({ at: element.currentTime })
    element.onplay = () => note({ isPlaying: true })
    element.onpause = () => note({ isPlaying: false })
    element.onended = () => note({ isPlaying: false, at: 0 })
    element.onerror = () => note({ isFaulty: true, isPlaying: false })
    audio.current = element
    setState({ isPlaying: false, isFaulty: false, at: 0 })
    return () => {
      element.pause()
      element.removeAttribute('src')
      if (playing === element) playing = null
    }
  }, [src])

  const toggle = async () => {
    const element = audio.current
    if (!element) return
    if (!element.paused) return element.pause()
    if (playing !== element) playing?.pause()
    playing = element
    if (element.ended || element.currentTime >= seconds) element.currentTime = 0
    // A sound that was paused meanwhile, or that cannot be played, tells so by its own events.
    await element.play().catch(() => {})
  }
  const seek = (at: number) => {
    if (!audio.current) return
    audio.current.currentTime = at
    setState((before) => ({ ...before, at }))
  }
  return { ...state, toggle, seek }
}

/** A longer sound is shown without its waveform: to make one, it is held in memory unpacked. */
const mostBytes = 2_000_000
const samplesPerSecond = 8_000
const barCount = 48

interface Waveform {
  /** Loudness from 0 to 1. */
  bars: readonly number[]
  seconds: number
}

const flat: readonly number[] = Array.from({ length: barCount }, () => 0.1)

/** The waveform of a sound; null where it is too long for one. Rejects where it is no sound. */
async function waveformOf(sound: Blob): Promise<Waveform | null> {
  if (sound.size > mostBytes) return null
  const context = new OfflineAudioContext(1, 1, samplesPerSecond)
  const decoded = await context.decodeAudioData(await sound.arrayBuffer())
  const samples = decoded.getChannelData(0)
  const step = Math.max(1, Math.floor(samples.length / barCount))
  const loud = flat.map((_, bar) => loudest(samples.subarray(bar * step, (bar + 1) * step)))
  const most = Math.max(...loud, 0.01)
  return { bars: loud.map((one) => Math.max(one / most, 0.06)), seconds: decoded.duration }
}

const loudest = (samples: Float32Array): number => samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)

/** Plays a voice message; its waveform is made here, from the sound itself. */
export function VoicePlayer({ sound, seconds }: { sound: Blob; seconds: number }) {
  const src = useObjectUrl(sound)
  const { value, error } = useLoaded('waveform', () => waveformOf(sound))
  const length = value?.seconds ?? seconds
  const { isPlaying, isFaulty, at, toggle, seek } = usePlayback(src, length)
  if (error || isFaulty) return <MediaFault text={t.faults.voice} />
  const share = length > 0 ? Math.min(at / length, 1) : 0
  const bars = value?.bars ?? flat
  return (
    <div className={mediaStyles.voice}>
      <button
        type="button"
        className={styles.voicePlay}
        aria-label={isPlaying ? t.voice.pause : t.voice.playFor({ length: spoken(length) })}
        title={isPlaying ? t.voice.pause : t.voice.play}
        onClick={() => void toggle()}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <div className={styles.voiceLine}>
        <svg viewBox={`0 0 ${bars.length * 4} 32`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map((loud, bar) => {
            const height = Math.max(2, loud * 30)
            return (
              <rect
                // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
                key={bar}
                className={(bar + 0.5) / bars.length <= share ? styles.played : ''}
                x={bar * 4 + 0.5}
                y={16 - height / 2}
                width={3}
                height={height}
                rx={1.5}
              />
            )
          })}
        </svg>
        <input
          type="range"
          aria-label={t.voice.position}
          aria-valuetext={t.voice.positionOf({ at: spoken(at), length: spoken(length) })}
          min={0}
          max={Math.max(length, 0.1)}
          step={0.1}
          value={Math.min(at, length)}
          onChange={({ target }) => seek(Number(target.value))}
        />
      </div>
      <span className={`${styles.voiceTime} numerals`}>{clock(isPlaying || at > 0 ? at : length)}</span>
    </div>
  )
}

export const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

const spoken = (seconds: number): string => {
  const whole = Math.round(seconds)
  return whole < 60
    ? t.voice.seconds({ seconds: whole })
    : t.voice.minutes({ minutes: Math.floor(whole / 60), seconds: whole % 60 })
}
