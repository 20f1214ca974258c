import { type ReactNode, useEffect, useRef } from 'react'
import { Avatar } from '../kit/avatar.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { meetingTexts as t } from '../texts/meetings.ts'
import styles from './meetings.module.css'

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
  const looks = [styles.meetingPicture, isMine && 'mine', isScreen && styles.screenPicture, isLarge && 'large']
  return (
    <figure className={looks.filter(Boolean).join(' ')} aria-label={label}>
      <Avatar id={id} name={name} size="large" />
      {track && <Video source={new MediaStream([track])} sourceKey={track.id} isSilent />}
      {media && <Video source={media} sourceKey={media.id} isSilent={false} speaker={speaker} isHidden={!isSeen} />}
      {isHandRaised && (
        <span className={`chip warm ${styles.raisedHand}`}>
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
        <span className={styles.pictureName}>{isolated(name)}</span>
        {isScreen && <small> · {t.inside.screen}</small>}
        {note && <small> · {note}</small>}
      </figcaption>
      {props.children && <div className={styles.personActs}>{props.children}</div>}
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
  return <video ref={video} className={isHidden ? styles.unseenPicture : ''} autoPlay playsInline muted={isSilent} />
}
