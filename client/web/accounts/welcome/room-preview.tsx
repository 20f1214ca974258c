import { type RefObject, useEffect, useRef, useState } from 'react'
import { createClient } from '#client/sdk/client'
import type { Client, ConnectionState } from '#client/sdk/types'
import type { Message } from '#shared/api/rooms/message'
import type { RoomRef } from '#shared/kit/primitives'
import { withPlainNames } from '#shared/kit/room-agents'
import connectionWordStyles from '../../connection/connection-word.module.css'
import { Avatar } from '../../kit/avatar.tsx'
import { nameOf, timeOf } from '../../kit/format.ts'
import { Blank, Listed } from '../../kit/notice.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { kitTexts } from '../../texts/kit.ts'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import styles from './room-preview.module.css'

const loadedLines = 4
const waitSeconds = 25
const pauseMilliseconds = 5_000
const kept = { getItem: () => null, setItem: () => {}, removeItem: () => {} }

/** What is said in a room, as visitors see it who are not signed in. */
export function RoomPreview({ name, isDemo, ...props }: { room: RoomRef; name: string; isDemo: boolean }) {
  const [room] = useState(props.room)
  const [visitor, setVisitor] = useState<Client | null>(null)
  useEffect(() => {
    const client = createClient({ url: location.origin, transport: 'rest', token: null, storage: kept })
    setVisitor(client)
    return () => client.close()
  }, [])
  return (
    <section className={styles.roomPreview} aria-label={t.preview.title({ name })}>
      {visitor && <Glimpse visitor={visitor} room={room} name={name} isDemo={isDemo} />}
    </section>
  )
}

function Glimpse(props: { visitor: Client; room: RoomRef; name: string; isDemo: boolean }) {
  const { visitor, room, name, isDemo } = props
  const head = useRef(0)
  const lines = useLoaded<readonly Message[]>('lines', async () => {
    head.current = (await visitor.messages.sync({ room, after_seq: head.current, limit: 1 })).head_seq
    const { messages } = await visitor.messages.history({ room, limit: loadedLines })
    return messages.filter((message) => !message.is_deleted && message.message_type === 'text')
  })
  const isLost = useNews(visitor, room, lines.value ? head : null, lines.reload)
  const state = lines.error || isLost ? 'offline' : lines.value === null ? 'connecting' : 'online'
  return (
    <div className={styles.roomPreviewCard}>
      <header className="row">
        <strong className="display">{name}</strong>
        <span className="grow" />
        <ConnectionWord state={state} />
      </header>
      {isDemo && <p className={styles.demoNote}>{t.preview.demo}</p>}
      <Listed loaded={lines} empty={<Quiet />}>
        {(shown) => (
          <ol className={styles.roomPreviewLines}>
            {shown.map((message) => (
              <Line key={message.id} message={message} />
            ))}
          </ol>
        )}
      </Listed>
    </div>
  )
}

const Quiet = () => (
  <Blank icon="message" title={t.preview.empty}>
    <p>{t.preview.emptyHint}</p>
  </Blank>
)

function Line({ message }: { message: Message }) {
  return (
    <li>
      <Avatar id={message.sender_address} name={message.sender.name} />
      <div>
        <p className={styles.roomPreviewWho}>
          {nameOf(message.sender.name, message.sender_address)}
          <time dateTime={message.created_at}>{timeOf(message.created_at)}</time>
        </p>
        <p dir="auto">{withPlainNames(message.content)}</p>
      </div>
    </li>
  )
}

/** Calls `tell` whenever the room has events after `head`; true while the server cannot be reached. */
function useNews(visitor: Client, room: RoomRef, head: RefObject<number> | null, tell: () => void): boolean {
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    if (!head) return
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = async (): Promise<void> => {
      try {
        const after_seq = head.current
        const { head_seq } = await visitor.messages.sync({ room, after_seq, wait: waitSeconds, limit: 1 })
        if (isOver) return
        setLost(false)
        if (head_seq !== after_seq) tell()
        head.current = head_seq
        return follow()
      } catch {
        if (isOver) return
        setLost(true)
        timer = setTimeout(() => void follow(), pauseMilliseconds)
      }
    }
    void follow()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [visitor, room, head, tell])
  return isLost
}

/** The state of the connection as a dot and a word, for who has not come in yet. */
function ConnectionWord({ state }: { state: ConnectionState }) {
  return (
    <span className={`${connectionWordStyles.connection} ${state}`} role="status">
      <i aria-hidden="true" />
      {kitTexts.connection[state]}
    </span>
  )
}
