import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { mediaTexts as t } from '../texts/media.ts'
import mediaStyles from './media.module.css'
import { MediaFault } from './media-fault.tsx'
import { useObjectUrl } from './use-object-url.ts'
import { usePlayback } from './use-playback.ts'
import styles from './voice-player.module.css'
import { flat, waveformOf } from './waveform.ts'

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
