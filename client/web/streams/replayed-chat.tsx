import { useMemo } from 'react'
import type { Client } from '#client/sdk/types'
import type { Message } from '#shared/api/rooms/message'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { streamTexts as t } from '../texts/streams.ts'
import type { Replayed } from './ended.tsx'
import { ReadChat } from './read-chat.tsx'

const mostPages = 20

const roomOf = (id: string) => ({ type: 'stream', id }) as const

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
    <main className="room" aria-label={t.chat.recording}>
      <header className="room-head">
        <div className="grow">
          <h1>{t.chat.at({ time: minutes })}</h1>
          <p className="room-facts">{t.chat.atHint}</p>
        </div>
        <button type="button" className="button small" onClick={onClose}>
          {t.chat.now}
        </button>
      </header>
      <ReadChat messages={until} empty={t.chat.emptyAt} />
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
