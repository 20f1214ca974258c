import type { LocalMessage } from '#client/sdk/types'
import { useOpenRoom } from '../rooms/room-context.ts'
import { rowActs } from './row-acts.ts'

/** The buttons for a moderator's acts on a message and its sender. */
export function RowModeration({ message }: { message: LocalMessage }) {
  const room = useOpenRoom()
  return (
    <div className="row wrap row-moderation" role="toolbar" aria-label="Moderate">
      {rowActs(message, room).map((one) => (
        <button
          key={one.title}
          type="button"
          className="button small"
          title={one.key ? `Key ${one.key}` : undefined}
          onClick={() => room.moderate(one)}
        >
          {one.title}
        </button>
      ))}
    </div>
  )
}
