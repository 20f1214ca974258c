import type { Message } from '#shared/api/message'
import { Icon } from '../kit/icon.tsx'
import { Blank } from '../kit/notice.tsx'
import { useAct } from '../moderation/acts.ts'
import { FoundMessage } from './found-message.tsx'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'

/** What is pinned in the room; a press leads to the message. */
export function PinsPanel({ pins }: { pins: readonly Message[] }) {
  const { live, rights } = useOpenRoom()
  const act = useAct()
  const shown = pins.filter((pin) => !pin.is_deleted)
  return (
    <div className="panel-body">
      {shown.length === 0 && (
        <Blank icon="pin" title="Nothing is pinned">
          <p>What moderators pin stays here for everybody.</p>
        </Blank>
      )}
      <ol className={styles.found} aria-label="Pinned messages">
        {shown.map((pin) => (
          <li key={pin.id} className="row">
            <FoundMessage message={pin} />
            {rights.canPin && (
              <button
                type="button"
                className="icon-button small"
                aria-label="Unpin"
                title="Unpin"
                onClick={() => void act({ room: live.ref, action: 'unpin', message_id: pin.id }, 'Unpinned')}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
