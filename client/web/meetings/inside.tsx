import { useSyncExternalStore } from 'react'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { confirmationTexts } from '../texts/confirmations.ts'
import { meetingTexts as t } from '../texts/meetings.ts'
import { DeviceButtons } from './device-buttons.tsx'
import styles from './inside.module.css'
import type { Attendee, Meeting } from './meeting.ts'
import { Picture } from './picture.tsx'

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
  /** What the button to leave says. */
  leaving: string
  onEnd: (() => Promise<unknown>) | null
  onRemove: ((peer: string) => Promise<unknown>) | null
}) {
  const { meeting, alone, host, leaving, onEnd, onRemove } = props
  const { phase, people } = useSyncExternalStore(meeting.subscribe, () => meeting.state)
  const { own } = meeting
  const tracks = useSyncExternalStore(own.subscribe, () => own.state)
  if (phase === 'entering') return <Skeleton label={t.entering} />
  return (
    <div className={styles.meetingInside}>
      {phase === 'away' && (
        <p className="banner" role="status">
          <Icon name="warn" />
          {t.inside.away}
        </p>
      )}
      <div className={styles.meetingPictures} data-count={people.length + 1}>
        <Picture
          track={tracks.video}
          id="me"
          name={t.inside.you}
          label={t.inside.you}
          isMine
          isMuted={tracks.audio === null}
        />
        {people.map(({ peer, name, isHost, media, sends, state }) => (
          <Picture
            key={peer}
            id={peer}
            name={isHost ? t.inside.isHost({ name }) : name}
            label={name}
            media={media}
            isSeen={sends.video}
            isMuted={state === 'there' && !sends.audio}
            note={notes[state]}
          >
            {onRemove && (
              <ConfirmButton
                title={t.remove}
                question={confirmationTexts.participant}
                of={name}
                onConfirm={() => onRemove(peer)}
              />
            )}
          </Picture>
        ))}
      </div>
      {people.length === 0 && (
        <p className={`hint ${styles.meetingAlone}`} role="status">
          {phase === 'waiting' ? t.waiting({ host }) : alone}
        </p>
      )}
      <div className={`row wrap ${styles.meetingControls}`}>
        <DeviceButtons own={own} tracks={tracks} />
        <span className="grow" />
        {onEnd && <ConfirmButton title={t.endForAll} question={confirmationTexts.meeting} onConfirm={onEnd} />}
        <button type="button" className="button small risky" onClick={meeting.leave}>
          <Icon name="leave" />
          {leaving}
        </button>
      </div>
    </div>
  )
}
