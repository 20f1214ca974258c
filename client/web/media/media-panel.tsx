import { mediaIn } from '#client/sdk/media'
import type { RoomState } from '#client/sdk/types'
import { useBlocked } from '../accounts/use-blocked.ts'
import { fullTimeOf, nameOf } from '../kit/format.ts'
import { Blank } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { MessageFiles } from '../messages/message-files.tsx'
import { useJump } from '../rooms/found-message.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './media.module.css'
import { MessageMedia } from './message-media.tsx'
import { hasMedia } from './words.ts'

/** Pictures, sounds, places and files of the messages that are loaded, newest first; older ones are loaded by a press. */
export function MediaPanel({ state }: { state: RoomState }) {
  const { live } = useOpenRoom()
  const jump = useJump()
  const blocked = useBlocked()
  const attempt = useAttempt()
  const found = state.messages.filter((message) => hasMedia(message) && !blocked.has(message.sender_address))
  return (
    <div className="panel-body">
      {found.length === 0 && (
        <Blank icon="image" title={t.panel.empty}>
          <p>{t.panel.emptyHint}</p>
        </Blank>
      )}
      <ol className={styles.mediaList} aria-label={t.panel.title}>
        {found.toReversed().map((message) => {
          const media = mediaIn(message.content, message.message_type)
          return (
            <li key={message.client_msg_id}>
              {media && <MessageMedia media={media} message={message} />}
              <MessageFiles message={message} />
              <button type="button" title={t.panel.goTo} onClick={() => jump(message)}>
                <strong>{nameOf(message.sender.name, message.sender_address)}</strong>
                <small>{fullTimeOf(message.created_at)}</small>
              </button>
            </li>
          )
        })}
      </ol>
      {state.hasOlder && (
        <button type="button" className="button" onClick={() => attempt(() => live.loadOlder())}>
          {t.panel.older}
        </button>
      )}
    </div>
  )
}
