import type { RefObject } from 'react'
import type { OwnTracks } from '../devices/own-media.ts'
import { ShareButton } from '../devices/share-button.tsx'
import { ActButton } from '../kit/act-button.tsx'
import { turnFullScreen, turnPictureInPicture, useFullScreen } from '../kit/full-screen.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { controlTexts } from '../texts/controls.ts'
import { meetingTexts as t } from '../texts/meetings.ts'
import type { Meeting } from './meeting.ts'

/** What one does in a meeting beside talking. */
export function MeetingTools(props: {
  meeting: Meeting
  isHandRaised: boolean
  tracks: OwnTracks
  pictures: RefObject<HTMLDivElement | null>
}) {
  const { meeting, isHandRaised, tracks, pictures } = props
  const tell = useTell()
  const isWhole = useFullScreen()

  const copyLink = async () => {
    await navigator.clipboard.writeText(location.origin + location.pathname)
    tell(controlTexts.copied.link)
  }
  const turnWhole = () => turnFullScreen(document.documentElement)
  const turnApart = async () => {
    const all = [...(pictures.current?.querySelectorAll<HTMLVideoElement>('figure:not(.mine) video') ?? [])]
    const seen = all.filter((video) => video.checkVisibility({ visibilityProperty: true }))
    const video = seen.find((one) => one.closest('.large')) ?? seen[0]
    if (!video) return tell(t.inside.nothingApart)
    await turnPictureInPicture(video)
  }
  return (
    <div className="row wrap">
      <ShareButton own={meeting.own} isSharing={tracks.screen !== null} />
      <Tool
        icon="hand"
        title={isHandRaised ? t.inside.lowerHand : t.inside.raiseHand}
        isOn={isHandRaised}
        onPress={async () => meeting.raiseHand(!isHandRaised)}
      />
      <Tool icon="link" title={t.inside.copyLink} onPress={copyLink} />
      {document.pictureInPictureEnabled && <Tool icon="apart" title={controlTexts.apart} onPress={turnApart} />}
      {document.fullscreenEnabled && (
        <Tool
          icon="whole"
          title={isWhole ? controlTexts.leaveWhole : controlTexts.whole}
          isOn={isWhole}
          onPress={turnWhole}
        />
      )}
    </div>
  )
}

function Tool(props: { icon: IconName; title: string; isOn?: boolean; onPress: () => Promise<unknown> }) {
  const { icon, title, isOn, onPress } = props
  return (
    <ActButton className="icon-button small" aria-label={title} title={title} aria-pressed={isOn} onPress={onPress}>
      <Icon name={icon} />
    </ActButton>
  )
}
