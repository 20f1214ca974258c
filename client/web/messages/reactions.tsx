import { useCallback, useState } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import messagesStyles from './messages.module.css'
import styles from './reactions.module.css'
import { type Group, NamesTip, namesOf, usePointed, WhoDialog } from './who.tsx'

export const suggestions = ['👍', '❤️', '😂', '🎉', '🔥', '👀', '🙏', '😮', '😢', '💯'] as const

/** The reactions to a message, the own ones marked. Who reacted is asked for when somebody wants to know. */
export function Reactions({ message, isActive }: { message: LocalMessage; isActive: boolean }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [showsWho, setShowsWho] = useState(false)
  const { id, reactions } = message
  const counts = Object.entries(reactions).filter(([, count]) => count > 0)
  const load = useCallback(async (): Promise<readonly Group[]> => {
    const { reactions: found } = await client.messages.reactions({ room: live.ref, messageIds: id })
    return Object.entries(reactions)
      .filter(([, count]) => count > 0)
      .map(([title, count]) => ({
        title,
        count,
        people: found
          .filter(({ emoji }) => emoji === title)
          .map(({ user_address, user_name }) => ({ id: user_address, name: user_name })),
      }))
  }, [client, live, id, reactions])
  if (counts.length === 0 || message.is_deleted) return null
  return (
    <ul className={styles.reactions} aria-label={t.reactions.title}>
      {counts.map(([emoji, count]) => (
        <li key={emoji}>
          <Reaction
            message={message}
            emoji={emoji}
            count={count}
            isActive={isActive}
            load={load}
            onWho={() => setShowsWho(true)}
          />
        </li>
      ))}
      <li>
        <button
          type="button"
          className={messagesStyles.whoButton}
          aria-label={t.reactions.who}
          title={t.reactions.who}
          tabIndex={isActive ? 0 : -1}
          onClick={() => setShowsWho(true)}
        >
          <Icon name="people" />
        </button>
        {showsWho && <WhoDialog title={t.reactions.title} load={load} onClose={() => setShowsWho(false)} />}
      </li>
    </ul>
  )
}

function Reaction(props: {
  message: LocalMessage
  emoji: string
  count: number
  isActive: boolean
  load: () => Promise<readonly Group[]>
  onWho: () => void
}) {
  const { message, emoji, count, load } = props
  const { live, account } = useOpenRoom()
  const attempt = useAttempt()
  const { isPointed, tip, handlers, tookAsHold } = usePointed(props.onWho)
  const names = async () => {
    const group = (await load()).find(({ title }) => title === emoji)
    return group && group.people.length > 0 ? t.reactions.names({ names: namesOf(group, account), emoji }) : ''
  }
  return (
    <>
      <button
        type="button"
        className={`${styles.reaction} numerals`}
        tabIndex={props.isActive ? 0 : -1}
        aria-pressed={message.reacted.includes(emoji)}
        aria-label={t.reactions.count({ emoji, count })}
        {...handlers}
        onClick={() => {
          if (!tookAsHold()) attempt(() => live.react(message.id, emoji))
        }}
      >
        <span>{emoji}</span>
        {count}
      </button>
      {isPointed && <NamesTip key={count} id={tip} load={names} />}
    </>
  )
}
