import type { LocalMessage } from '#client/sdk/types'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'

export const suggestions = ['👍', '❤️', '😂', '🎉', '🔥', '👀', '🙏', '😮', '😢', '💯'] as const

export function Reactions({ message }: { message: LocalMessage }) {
  const { live } = useOpenRoom()
  const attempt = useAttempt()
  const counts = Object.entries(message.reactions).filter(([, count]) => count > 0)
  if (counts.length === 0 || message.is_deleted) return null
  return (
    <ul className="reactions" aria-label="Reactions">
      {counts.map(([emoji, count]) => (
        <li key={emoji}>
          <button
            type="button"
            className="reaction numerals"
            tabIndex={-1}
            onClick={() => attempt(() => live.react(message.id, emoji))}
          >
            <span>{emoji}</span>
            {count}
            <span className="unseen">{count === 1 ? 'reaction' : 'reactions'}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
