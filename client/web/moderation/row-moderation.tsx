import type { LocalMessage } from '#client/sdk/types'
import { nameOf } from '../kit/format.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { type Act, useAct } from './acts.ts'
import { ConfirmButton } from './confirm-button.tsx'

/** A moderator's acts on a message and its sender, one press away. */
export function RowModeration({ message }: { message: LocalMessage }) {
  const { live, rights, account } = useOpenRoom()
  const act = useAct()
  const name = nameOf(message.sender.name, message.sender_address)
  const isMine = message.sender_address === account
  const onPerson = (action: Act['action'], done: string, duration?: string) => {
    const target = message.sender_address
    return act({ room: live.ref, action, target, message_id: message.id, ...(duration ? { duration } : {}) }, done)
  }

  return (
    <div className="row wrap row-moderation" role="toolbar" aria-label="Moderate">
      {rights.canDelete && (
        <button
          type="button"
          className="button small"
          onClick={() => act({ room: live.ref, action: 'delete', message_id: message.id }, 'Deleted')}
        >
          Delete
        </button>
      )}
      {rights.canMute && !isMine && (
        <>
          <button
            type="button"
            className="button small"
            onClick={() => onPerson('mute', `${name} muted for 1 h`, '1h')}
          >
            Mute 1 h
          </button>
          <button
            type="button"
            className="button small"
            onClick={() => onPerson('mute', `${name} muted for 24 h`, '24h')}
          >
            Mute 24 h
          </button>
          <button type="button" className="button small" onClick={() => onPerson('warn', `${name} warned`)}>
            Warn
          </button>
          <ConfirmButton title="Purge" onConfirm={() => onPerson('purge', `Messages of ${name} purged`)} />
          <ConfirmButton title="Ban" onConfirm={() => onPerson('ban', `${name} banned`, 'permanent')} />
        </>
      )}
    </div>
  )
}
