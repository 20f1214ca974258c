import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { meetingTexts as t } from '../texts/meetings.ts'
import styles from './meetings.module.css'
import type { Kind, OwnMedia, OwnTracks } from './own-media.ts'

const devices: readonly (readonly [Kind, string, 'microphone' | 'camera'])[] = [
  ['audio', t.inside.microphone, 'microphone'],
  ['video', t.inside.camera, 'camera'],
]

/** Turn the microphone and the camera on and off. */
export function DeviceButtons({ own, tracks }: { own: OwnMedia; tracks: OwnTracks }) {
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
    </div>
  )
}
