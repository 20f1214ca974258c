import { type ReactNode, useMemo } from 'react'
import type { Client } from '#client/sdk/types'
import type { Message } from '#shared/api/message'
import { withPlainNames } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf, shortTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { type Renewed, useLoaded } from '../kit/use-loaded.ts'
import type { Replayed } from './ended.tsx'
import { useStreamChat } from './use-stream.ts'

const mostPages = 20

const roomOf = (id: string) => ({ type: 'stream', id }) as const

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
      <div className="read-chat" ref={toEnd}>
        <Listed
          loaded={{ ...props.messages, value: props.messages.value?.filter(({ is_deleted }) => !is_deleted) ?? null }}
          empty={<Blank icon="message" title={props.empty} />}
        >
          {(messages) => (
            <ol aria-label="Messages">
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
    <li className="read-line">
      <Avatar size="small" id={sender_address} name={sender.name} />
      <p>
        <strong>{nameOf(sender.name, sender_address)}</strong>{' '}
        <time dateTime={created_at}>{shortTimeOf(created_at)}</time>
        <span>{message_type === 'text' ? withPlainNames(content) : <em>{othersOf(message_type)}</em>}</span>
      </p>
    </li>
  )
}

const othersOf = (type: Message['message_type']) => `Sent: ${type.replaceAll('_', ' ')}`

/** What had been said in the moment that a recording shows. */
export function ReplayedChat({ id, replayed, onClose }: { id: string; replayed: Replayed; onClose: () => void }) {
  const client = useClient()
  const { from, at } = replayed
  const all = useLoaded<readonly Message[]>(`${id} ${from}`, () => readSince(client, id, from))
  const until = useMemo(
    () => ({ ...all, value: all.value?.filter(({ created_at }) => created_at <= at) ?? null }),
    [all, at],
  )
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(from)) / 1_000))
  const minutes = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <main className="room" aria-label="Chat of the recording">
      <header className="room-head">
        <div className="grow">
          <h1>Chat at {minutes}</h1>
          <p className="room-facts">As it was in this moment of the recording</p>
        </div>
        <button type="button" className="button small" onClick={onClose}>
          Chat of now
        </button>
      </header>
      <ReadChat messages={until} empty="Nothing said yet at this moment" />
    </main>
  )
}

/** All messages from a moment on, oldest first; of very long chats the newest. */
async function readSince(client: Client, id: string, from: string): Promise<readonly Message[]> {
  const found: Message[] = []
  let before: number | undefined
  for (let page = 0; page < mostPages; page++) {
    const older = before === undefined ? {} : { before_seq: before }
    const { messages, has_more } = await client.messages.history({ room: roomOf(id), limit: 100, ...older })
    found.unshift(...messages)
    before = messages[0]?.seq
    if (!has_more || before === undefined || (messages[0]?.created_at ?? '') < from) break
  }
  return found.filter(({ created_at }) => created_at >= from)
}
