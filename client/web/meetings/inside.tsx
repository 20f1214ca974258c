import { useRef, useSyncExternalStore } from 'react'
import { DeviceButtons } from '../devices/device-buttons.tsx'
import { speakerOf, useDeviceChoice, useDevices } from '../devices/device-choice.ts'
import { DeviceNotes } from '../devices/device-notes.tsx'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { confirmationTexts } from '../texts/confirmations.ts'
import { meetingTexts as t } from '../texts/meetings.ts'
import styles from './inside.module.css'
import type { Attendee, Meeting } from './meeting.ts'
import { MeetingTools } from './meeting-tools.tsx'
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
