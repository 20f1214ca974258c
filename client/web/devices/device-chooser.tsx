import { Dialog } from '../kit/dialog.tsx'
import { deviceTexts as t } from '../texts/devices.ts'
import { canChooseSpeaker, chooseDevices, type DeviceKind, useDeviceChoice, useDevices } from './device-choice.ts'
import { DeviceNotes } from './device-notes.tsx'
import { Level } from './level.tsx'
import type { OwnMedia, OwnTracks } from './own-media.ts'

/** The choice of microphone, camera and speaker, which this browser remembers. */
export function DeviceChooser(props: { own: OwnMedia; tracks: OwnTracks; onClose: () => void }) {
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
