import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { deviceTexts as t } from '../texts/devices.ts'
import type { OwnMedia } from './own-media.ts'

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
