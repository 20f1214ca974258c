import { type RefObject, useEffect, useRef } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import { type Recorded, useRecorder } from './use-recorder.ts'
import { clock } from './voice-player.tsx'
import styles from './voice-recorder.module.css'

/** In the place of the message field while one speaks. `stopping` is set to what stops it, for a pointer that is released elsewhere. */
export function VoiceRecorder(props: {
  /** A type that this browser records, with its codec. */
  kind: string
  mostBytes: number
  stopping: RefObject<(() => void) | null>
  onEnd: (recorded: Recorded | null) => void
}) {
  const { stopping, onEnd } = props
  const tell = useTell()
  const { seconds, level, isOn, stop, cancel } = useRecorder(props, (recorded, fault, isLeft) => {
    if (recorded && isLeft) tell(t.voice.kept)
    if (fault) tell(fault)
    onEnd(recorded)
  })
  const stopButton = useRef<HTMLButtonElement>(null)
  useEffect(() => stopButton.current?.focus(), [])
  useEffect(() => {
    stopping.current = stop
    return () => {
      stopping.current = null
    }
  }, [stopping, stop])

  return (
    <fieldset
      className={`composer-field ${styles.recorder}`}
      aria-label={t.voice.title}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        cancel()
      }}
    >
      <button
        type="button"
        className="icon-button"
        aria-label={t.voice.cancelRecording}
        title={t.voice.cancel}
        onClick={cancel}
      >
        <Icon name="bin" />
      </button>
      <span className={styles.recorderDot} aria-hidden="true" />
      <span className="numerals" role="timer" aria-label={t.voice.recorded}>
        {clock(seconds)}
      </span>
      <meter className="grow" aria-label={t.voice.level} min={0} max={1} value={level} />
      <span className="unseen" role="status">
        {isOn ? t.voice.recording : t.voice.waiting}
      </span>
      <button
        ref={stopButton}
        type="button"
        className="send"
        aria-label={t.voice.stopAndListen}
        title={t.voice.stop}
        onClick={stop}
      >
        <Icon name="stop" />
      </button>
    </fieldset>
  )
}
