import { useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { deviceTexts as t } from '../texts/devices.ts'
import { DeviceChooser } from './device-chooser.tsx'
import styles from './devices.module.css'
import { Level } from './level.tsx'
import type { Kind, OwnMedia, OwnTracks } from './own-media.ts'

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
