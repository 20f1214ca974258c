import { useEffect, useRef, useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { deviceTexts as t } from '../texts/devices.ts'
import styles from './devices.module.css'
import {
  canChooseSpeaker,
  chooseDevices,
  type DeviceKind,
  type Kind,
  type OwnMedia,
  type OwnTracks,
  useDeviceChoice,
  useDevices,
} from './own-media.ts'

const lookMilliseconds = 100
/** What is softer is not shown. */
const softest = -55

/** How loud the own microphone is now. Empty while it is off. */
function Level({ track }: { track: MediaStreamTrack | null }) {
  const meter = useRef<HTMLMeterElement>(null)
  useEffect(() => {
    if (!track) return
    const context = new AudioContext()
    const analyser = new AnalyserNode(context, { fftSize: 1_024 })
    context.createMediaStreamSource(new MediaStream([track])).connect(analyser)
    const samples = new Float32Array(analyser.fftSize)
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples)
      if (meter.current) meter.current.value = loudnessOf(samples)
    }, lookMilliseconds)
    return () => {
      clearInterval(timer)
      if (meter.current) meter.current.value = 0
      void context.close()
    }
  }, [track])
  return <meter ref={meter} className={styles.level} min={0} max={1} aria-label={t.level} />
}

/** From 0 to 1, by decibels. */
function loudnessOf(samples: Float32Array): number {
  const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length
  const decibels = 10 * Math.log10(power + 1e-12)
  return Math.min(1, Math.max(0, 1 - decibels / softest))
}

const devices: readonly (readonly [Kind, string, 'microphone' | 'camera'])[] = [
  ['audio', t.microphone, 'microphone'],
  ['video', t.camera, 'camera'],
]

/** Turn the microphone and the camera on and off, and choose them. The level says whether one is heard. */
export function DeviceButtons({ own, tracks }: { own: OwnMedia; tracks: OwnTracks }) {
  const [isChoosing, setChoosing] = useState(false)
  return (
    <div className="row wrap">
      {devices.map(([kind, title, icon]) => {
        const isOn = tracks[kind] !== null
        return (
          <ActButton
            key={kind}
            className={`button small ${styles.device} ${isOn ? '' : 'off'}`}
            aria-pressed={isOn}
            onPress={() => own.turn(kind, !isOn)}
          >
            <Icon name={icon} />
            {title}
          </ActButton>
        )
      })}
      <button
        type="button"
        className="icon-button small"
        aria-label={t.title}
        title={t.title}
        onClick={() => setChoosing(true)}
      >
        <Icon name="sliders" />
      </button>
      <Level track={tracks.audio} />
      {isChoosing && <DeviceChooser own={own} tracks={tracks} onClose={() => setChoosing(false)} />}
    </div>
  )
}

/** Starts and stops sharing the screen. Nothing where the browser has no screen to share, as on a phone. */
export function ShareButton(props: { own: OwnMedia; isSharing: boolean; hasSound?: boolean }) {
  const { own, isSharing, hasSound = false } = props
  if (!('getDisplayMedia' in (navigator.mediaDevices ?? {}))) return null
  const title = isSharing ? t.stopSharing : t.share
  return (
    <ActButton
      className="icon-button small"
      aria-label={title}
      title={title}
      aria-pressed={isSharing}
      onPress={async () => (isSharing ? own.unshare() : own.share(hasSound))}
    >
      <Icon name="screen" />
    </ActButton>
  )
}

/** The choice of microphone, camera and speaker, which this browser remembers. */
function DeviceChooser(props: { own: OwnMedia; tracks: OwnTracks; onClose: () => void }) {
  const { own, tracks } = props
  const devices = useDevices(tracks)
  const choice = useDeviceChoice()
  const of = (kind: DeviceKind) => devices.filter((one) => one.kind === kind && one.deviceId !== '')
  return (
    <Dialog title={t.title} onClose={props.onClose}>
      <div className="stack">
        <Choice
          title={t.microphone}
          devices={of('audioinput')}
          chosen={choice.audioinput}
          onChoose={(id) => void own.choose('audio', id)}
        />
        <Level track={tracks.audio} />
        <Choice
          title={t.camera}
          devices={of('videoinput')}
          chosen={choice.videoinput}
          onChoose={(id) => void own.choose('video', id)}
        />
        {canChooseSpeaker() && (
          <Choice
            title={t.speaker}
            devices={of('audiooutput')}
            chosen={choice.audiooutput}
            onChoose={(audiooutput) => chooseDevices({ audiooutput })}
          />
        )}
        <DeviceNotes tracks={tracks} />
        <p className="hint">{t.hint}</p>
      </div>
    </Dialog>
  )
}

function Choice(props: {
  title: string
  devices: readonly MediaDeviceInfo[]
  chosen: string | undefined
  onChoose: (id: string) => void
}) {
  const { title, devices, chosen = '', onChoose } = props
  const isThere = devices.some(({ deviceId }) => deviceId === chosen)
  return (
    <label className="field">
      <span>{title}</span>
      <select
        className="input"
        value={isThere ? chosen : ''}
        onChange={({ target }) => onChoose(target.value)}
        disabled={devices.length === 0}
      >
        <option value="">{t.standard}</option>
        {devices.map(({ deviceId, label }, at) => (
          <option key={deviceId} value={deviceId}>
            {label || t.unnamed({ number: at + 1 })}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What happened to a device, and why one is not on. */
export function DeviceNotes({ tracks: { notice, problem } }: { tracks: OwnTracks }) {
  return (
    <>
      {notice && (
        <p className="banner" role="status">
          <Icon name="warn" />
          {notice}
        </p>
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
