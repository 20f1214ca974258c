import { useEffect, useState } from 'react'
import { createClient } from '#client/sdk/index'
import type { LiveRoom } from '#client/sdk/types'
import { ConnectionWord } from '../connection/connection-state.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf, timeOf } from '../kit/format.ts'
import { Blank, Bones, Problem } from '../kit/notice.tsx'
import { useRoom } from '../rooms/use-room.ts'

const shown = 14
const kept = { getItem: () => null, setItem: () => {}, removeItem: () => {} }

/** The public room, read by a visitor who is not signed in. */
export function LivingRoom({ isDemo }: { isDemo: boolean }) {
  const [room, setRoom] = useState<LiveRoom | null>(null)
  useEffect(() => {
    const visitor = createClient({ url: location.origin, transport: 'rest', token: null, storage: kept })
    setRoom(visitor.room({ type: 'alpha', id: null }))
    return () => visitor.close()
  }, [])
  return (
    <section className="living" aria-label="The public room, live">
      {room && <Glimpse room={room} isDemo={isDemo} />}
    </section>
  )
}

function Glimpse({ room, isDemo }: { room: LiveRoom; isDemo: boolean }) {
  const state = useRoom(room)
  const lines = state.messages.filter((message) => !message.is_deleted && message.message_type === 'text').slice(-shown)
  const isWaiting = state.status === 'joining' && lines.length === 0
  return (
    <div className="living-card">
      <header className="row">
        <strong className="display">{state.room?.name ?? 'Public room'}</strong>
        <span className="grow" />
        <ConnectionWord
          state={isWaiting ? 'connecting' : state.error || state.status === 'offline' ? 'offline' : 'online'}
        />
      </header>
      {isDemo && <p className="demo-note">Demo: the others here are scripted.</p>}
      {isWaiting && <Bones rows={9} label="Loading the public room" />}
      {state.error && lines.length === 0 && <Problem error={state.error} />}
      {!isWaiting && !state.error && lines.length === 0 && (
        <Blank icon="message" title="It is quiet here">
          <p>Nobody has said anything yet. You could be first.</p>
        </Blank>
      )}
      <ol className="living-lines">
        {lines.map((message) => (
          <li key={message.id}>
            <Avatar id={message.sender_address} name={message.sender.name} />
            <div>
              <p className="living-who">
                {nameOf(message.sender.name, message.sender_address)}
                <time dateTime={message.created_at}>{timeOf(message.created_at)}</time>
              </p>
              <p>{message.content}</p>
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}
