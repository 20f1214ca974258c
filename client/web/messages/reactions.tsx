import { useCallback, useSyncExternalStore } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { useNames } from '../accounts/names.ts'
import { plural } from '../kit/format.ts'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'

export const suggestions = ['👍', '❤️', '😂', '🎉', '🔥', '👀', '🙏', '😮', '😢', '💯'] as const

/** So many people are named; the others are counted. */
const mostNamed = 8

export function Reactions({ message }: { message: LocalMessage }) {
  const { live, account } = useOpenRoom()
  const attempt = useAttempt()
  const counts = Object.entries(message.reactions).filter(([, count]) => count > 0)
  const reactors = useSyncExternalStore(
    useCallback((listener: () => void) => live.subscribe(listener), [live]),
    () => live.state.reactors.get(message.id),
  )
  const people = counts.flatMap(([emoji]) => by(emoji).slice(0, mostNamed))
  const nameOf = useNames(people.filter((id) => id !== account))
  if (counts.length === 0 || message.is_deleted) return null
  return (
    <ul className="reactions" aria-label="Reactions">
      {counts.map(([emoji, count]) => {
        const isMine = by(emoji).includes(account)
        return (
          <li key={emoji}>
            <button
              type="button"
              className={`reaction numerals ${isMine ? 'mine' : ''}`}
              tabIndex={-1}
              aria-pressed={isMine}
              title={whoReacted(emoji, count)}
              onClick={() => attempt(() => live.react(message.id, emoji))}
            >
              <span>{emoji}</span>
              {count}
              <span className="unseen">{count === 1 ? 'reaction' : 'reactions'}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )

  /** Who reacted so, this account first. */
  function by(emoji: string): string[] {
    const all = (reactors ?? []).filter((one) => one.emoji === emoji).map((one) => one.account)
    return [...all.filter((id) => id === account), ...all.filter((id) => id !== account)]
  }

  /** `You, Ann and 3 others`, once that is known. */
  function whoReacted(emoji: string, count: number): string | undefined {
    const named = by(emoji).slice(0, mostNamed)
    if (named.length === 0) return undefined
    const names = named.map((id) => (id === account ? 'You' : nameOf(id)))
    const others = count - names.length
    const all = others > 0 ? [...names, plural(others, 'other')] : names
    return new Intl.ListFormat('en', { type: 'conjunction' }).format(all)
  }
}
