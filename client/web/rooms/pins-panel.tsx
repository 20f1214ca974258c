import type { Message } from '#shared/api/rooms/message'
import { Icon } from '../kit/icon.tsx'
import { Blank } from '../kit/notice.tsx'
import { useAct } from '../moderation/acts.ts'
import { roomTexts as t } from '../texts/rooms.ts'
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
        <Blank icon="pin" title={t.pins.empty}>
          <p>{t.pins.emptyHint}</p>
        </Blank>
      )}
      <ol className={styles.found} aria-label={t.pins.title}>
        {shown.map((pin) => (
          <li key={pin.id} className="row">
            <FoundMessage message={pin} />
            {rights.canPin && (
              <button
                type="button"
                className="icon-button small"
                aria-label={t.pins.unpin}
                title={t.pins.unpin}
                onClick={() => void act({ room: live.ref, action: 'unpin', message_id: pin.id }, t.pins.unpinned)}
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
