import { type ReactNode, useEffect, useRef } from 'react'
import { Avatar } from '../kit/avatar.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { meetingTexts as t } from '../texts/meetings.ts'
import styles from './meetings.module.css'

/** What is seen of one person; their initials while their camera is off. */
export function Picture(props: {
  /** Of who looks: their own camera. */
  track?: MediaStreamTrack | null
  /** Of somebody else: what comes from them, and whether it has a picture. */
  media?: MediaStream | null
  isSeen?: boolean
  id: string
  name: string
  label: string
  isMine?: boolean
  isMuted?: boolean
  note?: string | undefined
  /** What can be done about them. */
  children?: ReactNode
}) {
  const { track = null, media = null, isSeen = true, id, name, label, isMine = false, isMuted = false, note } = props
  return (
    <figure className={`${styles.meetingPicture} ${isMine ? 'mine' : ''}`} aria-label={label}>
      <Avatar id={id} name={name} size="large" />
      {track && <Video source={new MediaStream([track])} sourceKey={track.id} isSilent />}
      {media && <Video source={media} sourceKey={media.id} isSilent={false} isHidden={!isSeen} />}
      <figcaption>
        {isMuted && (
          <>
            <Icon name="mute" />
            <span className="unseen">{t.inside.muted} </span>
          </>
        )}
        {isolated(name)}
        {note && <small> · {note}</small>}
      </figcaption>
      {props.children}
    </figure>
  )
}

function Video(props: { source: MediaStream; sourceKey: string; isSilent: boolean; isHidden?: boolean }) {
  const { source, sourceKey, isSilent, isHidden = false } = props
  const video = useRef<HTMLVideoElement>(null)
  const latest = useRef(source)
  latest.current = source
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source is the same for as long as its key is
  useEffect(() => {
    if (video.current) video.current.srcObject = latest.current
  }, [sourceKey])
  return <video ref={video} className={isHidden ? styles.unseenPicture : ''} autoPlay playsInline muted={isSilent} />
}
