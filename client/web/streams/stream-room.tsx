import { useState } from 'react'
import type { LiveRoom, RoomState } from '#client/sdk/types'
import type { PanelName } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKinds } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { isolated } from '../kit/format.ts'
import { useAttempt } from '../kit/toasts.tsx'
import { BackToRooms } from '../rooms/room-header.tsx'
import { RoomView } from '../rooms/room-view.tsx'
import { openRoom, useRoom, useRoomList } from '../rooms/use-rooms.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { type Replayed, ReplayedChat } from './ended.tsx'
import { ReadChat, useNewest } from './read-chat.tsx'
import { Stage } from './stage.tsx'
import styles from './streams.module.css'
import { useStream } from './use-stream.ts'

/** A stream with its chat, for who is signed in: the room of the stream, and its picture beside it. */
export function StreamRoom({ roomRef, panel }: { roomRef: RoomRef; panel: PanelName | null }) {
  const client = useClient()
  const id = roomRef.id ?? ''
  const view = useStream(id)
  const [live] = useState(() => openRoom(client, roomRef))
  const state = useRoom(live)
  const [replayed, setReplayed] = useState<Replayed | null>(null)
  const isOutside = state.status === 'left' || state.error?.code === 'NOT_A_MEMBER'
  const isMissing = view?.error?.code === 'STREAM_NOT_FOUND'
  return (
    <div className={`${styles.streamRoom} ${isMissing ? 'missing' : ''}`}>
      <Stage view={view} onReplay={setReplayed} />
      {replayed ? (
        <ReplayedChat id={id} replayed={replayed} onClose={() => setReplayed(null)} />
      ) : isMissing ? null : isOutside ? (
        <Outside id={id} title={view?.state?.title ?? t.livestream} live={live} state={state} />
      ) : (
        <RoomView roomRef={roomRef} panel={panel} />
      )}
    </div>
  )
}

/** The chat for who has not written in it yet: the first message joins it. */
function Outside({ id, title, live, state }: { id: string; title: string; live: LiveRoom; state: RoomState }) {
  const client = useClient()
  const { reload } = useRoomList()
  const attempt = useAttempt()
  const newest = useNewest(id)
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const say = () =>
    attempt(async () => {
      if (!text.trim() || isBusy) return
      setBusy(true)
      try {
        await client.rooms.join({ room: live.ref })
        live.send({ text: text.trim() })
        reload()
      } finally {
        setBusy(false)
      }
    })
  return (
    <main className="room" aria-label={isolated(title)}>
      <header className="room-head">
        <BackToRooms />
        <div className="grow">
          <h1 tabIndex={-1}>{isolated(title)}</h1>
          <p className="room-facts">{t.chat.outside}</p>
        </div>
      </header>
      <ReadChat messages={newest} empty={t.chat.empty}>
        {state.access?.state !== 'removed' && (
          <form
            className={`row ${styles.readSay}`}
            onSubmit={(event) => {
              event.preventDefault()
              say()
            }}
          >
            <input
              dir="auto"
              className="input grow"
              aria-label={t.chat.message}
              placeholder={t.chat.say}
              maxLength={roomKinds.stream.longestMessage}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
            <button type="submit" className="button main" disabled={!text.trim() || isBusy}>
              {t.chat.send}
            </button>
          </form>
        )}
      </ReadChat>
    </main>
  )
}
