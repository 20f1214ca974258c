import type { ReactNode } from 'react'
import type { Message } from '#shared/api/rooms/message'
import { withPlainNames } from '#shared/kit/room-agents'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf, shortTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import type { Renewed } from '../kit/use-loaded.ts'
import { streamTexts as t } from '../texts/streams.ts'
import styles from './read-chat.module.css'
import streamsStyles from './streams.module.css'
import { useStreamChat } from './use-stream.ts'

/** The newest messages of a stream, for who is not in its chat; what cannot be read is asked for again by itself. */
export function useNewest(id: string): Renewed<readonly Message[]> {
  const chat = useStreamChat(id)
  const [value, error] = [chat?.messages ?? null, chat?.error ?? null]
  return { value, error, isLoading: value === null && error === null }
}

/** Messages that are read and not answered. */
export function ReadChat(props: { messages: Renewed<readonly Message[]>; empty: string; children?: ReactNode }) {
  return (
    <>
      <div className={streamsStyles.readChat} ref={toEnd}>
        <Listed
          loaded={{ ...props.messages, value: props.messages.value?.filter(({ is_deleted }) => !is_deleted) ?? null }}
          empty={<Blank icon="message" title={props.empty} />}
        >
          {(messages) => (
            <ol aria-label={t.chat.messages}>
              {messages.map((message) => (
                <Line key={message.id} message={message} />
              ))}
            </ol>
          )}
        </Listed>
      </div>
      {props.children}
    </>
  )
}

/** The list is laid out from its end (by its style), so that what is new is seen. */
const toEnd = (box: HTMLElement | null) => {
  box?.scrollTo({ top: box.scrollHeight })
}

function Line({ message }: { message: Message }) {
  const { sender, sender_address, created_at, message_type, content } = message
  return (
    <li className={styles.readLine}>
      <Avatar size="small" id={sender_address} name={sender.name} />
      <p>
        <strong>{nameOf(sender.name, sender_address)}</strong>{' '}
        <time dateTime={created_at}>{shortTimeOf(created_at)}</time>
        <span dir="auto">{message_type === 'text' ? withPlainNames(content) : <em>{othersOf(message_type)}</em>}</span>
      </p>
    </li>
  )
}

const othersOf = (type: Message['message_type']) => t.chat.other({ what: type.replaceAll('_', ' ') })
