import { type ReactNode, type RefObject, useEffect, useRef, useSyncExternalStore } from 'react'
import { DeviceButtons, DeviceNotes, ShareButton } from '../devices/device-buttons.tsx'
import { type OwnTracks, speakerOf, useDeviceChoice, useDevices } from '../devices/own-media.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { isolated } from '../kit/format.ts'
import { turnFullScreen, turnPictureInPicture, useFullScreen } from '../kit/full-screen.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { meetingTexts as t } from '../texts/calls.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './inside.module.css'
import type { Attendee, Meeting } from './meeting.ts'
import meetingsStyles from './meetings.module.css'

const notes: Record<Attendee['state'], string | undefined> = {
  connecting: t.inside.connecting,
  there: undefined,
  lost: t.inside.lost,
}

/** A meeting from inside: everybody's picture, and what one does there. `onEnd` and `onRemove` are null for who is not its host. */
export function Inside(props: {
  meeting: Meeting
  /** What is said while nobody else is there. */
  alone: string
  host: string
  /** What the button to leave says, and does. */
  leaving: string
  onLeave: () => Promise<unknown>
  onEnd: (() => Promise<unknown>) | null
  onRemove: ((peer: string) => Promise<unknown>) | null
}) {
  const { meeting, alone, host, leaving, onLeave, onEnd, onRemove } = props
  const { phase, people, isHandRaised } = useSyncExternalStore(meeting.subscribe, () => meeting.state)
  const { own } = meeting
  const tracks = useSyncExternalStore(own.subscribe, () => own.state)
  const devices = useDevices(tracks)
  const { speaker, notice } = speakerOf(useDeviceChoice(), devices)
  const pictures = useRef<HTMLDivElement>(null)
  if (phase === 'entering') return <Skeleton label={t.entering} />
  const shares = people.find(({ sends }) => sends.screen)
  return (
    <div className={styles.meetingInside}>
      {phase === 'away' && (
        <p className="banner" role="status">
          <Icon name="warn" />
          {t.inside.away}
        </p>
      )}
      <DeviceNotes tracks={notice ? { ...tracks, notice } : tracks} />
      <div
        ref={pictures}
        className={`${styles.meetingPictures} ${shares ? 'shared' : ''}`}
        data-count={people.length + 1}
      >
        <Picture
          track={tracks.screen ?? tracks.video}
          id="me"
          name={t.inside.you}
          label={t.inside.you}
          isMine
          isMuted={tracks.audio === null}
          isScreen={tracks.screen !== null}
          isHandRaised={isHandRaised}
        />
        {people.map((person) => {
          const { peer, name, isHost, media, sends, state } = person
          return (
            <Picture
              key={peer}
              id={peer}
              name={isHost ? t.inside.isHost({ name }) : name}
              label={name}
              media={media}
              speaker={speaker}
              isSeen={sends.video}
              isMuted={state === 'there' && !sends.audio}
              isScreen={sends.screen}
              isHandRaised={sends.hand}
              isLarge={person === shares}
              note={notes[state]}
            >
              {onRemove && (
                <>
                  {sends.audio && (
                    <button
                      type="button"
                      className="button small"
                      aria-label={t.inside.muteOne({ name })}
                      onClick={() => meeting.mute(peer)}
                    >
                      <Icon name="mute" />
                      {t.inside.mute}
                    </button>
                  )}
                  <ConfirmButton
                    title={t.remove}
                    question={confirmationTexts.participant}
                    of={name}
                    onConfirm={() => onRemove(peer)}
                  />
                </>
              )}
            </Picture>
          )
        })}
      </div>
      {people.length === 0 && (
        <p className={`hint ${styles.meetingAlone}`} role="status">
          {phase === 'waiting' ? t.waiting({ host }) : alone}
        </p>
      )}
      <div className={`row wrap ${styles.meetingControls}`}>
        <DeviceButtons own={own} tracks={tracks} />
        <MeetingTools meeting={meeting} isHandRaised={isHandRaised} tracks={tracks} pictures={pictures} />
        <span className="grow" />
        {onEnd && <ConfirmButton title={t.endForAll} question={confirmationTexts.meeting} onConfirm={onEnd} />}
        <ActButton className="button small risky" onPress={onLeave}>
          <Icon name="leave" />
          {leaving}
        </ActButton>
      </div>
    </div>
  )
}

/** What is seen of one person; their initials while their camera is off. */
export function Picture(props: {
  /** Of who looks: their own camera or screen. */
  track?: MediaStreamTrack | null
  /** Of somebody else: what comes from them, and whether it has a picture. */
  media?: MediaStream | null
  isSeen?: boolean
  /** The id of the speaker; empty for the standard one. */
  speaker?: string
  id: string
  name: string
  label: string
  isMine?: boolean
  isMuted?: boolean
  isScreen?: boolean
  isHandRaised?: boolean
  /** Whether it takes the most of the room. */
  isLarge?: boolean
  note?: string | undefined
  /** What can be done about them. */
  children?: ReactNode
}) {
  const { track = null, media = null, isSeen = true, id, name, label, isMine = false, isMuted = false, note } = props
  const { isScreen = false, isHandRaised = false, isLarge = false, speaker = '' } = props
  const looks = [
    meetingsStyles.meetingPicture,
    isMine && 'mine',
    isScreen && meetingsStyles.screenPicture,
    isLarge && 'large',
  ]
  return (
    <figure className={looks.filter(Boolean).join(' ')} aria-label={label}>
      <Avatar id={id} name={name} size="large" />
      {track && <Video source={new MediaStream([track])} sourceKey={track.id} isSilent />}
      {media && <Video source={media} sourceKey={media.id} isSilent={false} speaker={speaker} isHidden={!isSeen} />}
      {isHandRaised && (
        <span className={`chip warm ${meetingsStyles.raisedHand}`}>
          <Icon name="hand" />
          {t.inside.handRaised}
        </span>
      )}
      <figcaption>
        {isMuted && (
          <>
            <Icon name="mute" />
            <span className="unseen">{t.inside.muted} </span>
          </>
        )}
        <span className={meetingsStyles.pictureName}>{isolated(name)}</span>
        {isScreen && <small> · {t.inside.screen}</small>}
        {note && <small> · {note}</small>}
      </figcaption>
      {props.children && <div className={meetingsStyles.personActs}>{props.children}</div>}
    </figure>
  )
}

function Video(props: {
  source: MediaStream
  sourceKey: string
  isSilent: boolean
  speaker?: string
  isHidden?: boolean
}) {
  const { source, sourceKey, isSilent, speaker = '', isHidden = false } = props
  const video = useRef<HTMLVideoElement>(null)
  const latest = useRef(source)
  latest.current = source
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source is the same for as long as its key is
  useEffect(() => {
    if (video.current) video.current.srcObject = latest.current
  }, [sourceKey])
  useEffect(() => {
    if (isSilent || !video.current || !('setSinkId' in video.current)) return
    void video.current.setSinkId(speaker).catch(() => {})
  }, [isSilent, speaker])
  return (
    <video ref={video} className={isHidden ? meetingsStyles.unseenPicture : ''} autoPlay playsInline muted={isSilent} />
  )
}

/** What one does in a meeting beside talking. */
function MeetingTools(props: {
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
