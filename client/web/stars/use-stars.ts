import { createContext, useContext, useEffect, useRef } from 'react'
import { table } from '#client/sdk/table'
import type { Message } from '#shared/api/rooms/message'
import type { Starred } from '#shared/api/rooms/stars'
import { peerIn } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { useBackOnline } from '../connection/use-back-online.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'

interface Stars {
  /** The newest star first. */
  messages: readonly Starred[]
  /** Where earlier ones go on; null at the end. */
  next: string | null
}

const without =
  (id: string) =>
  (before: Stars): Stars => ({ ...before, messages: before.messages.filter(({ message_id }) => message_id !== id) })

/** The messages that the account has starred, as that changes on any of its devices. */
export function useLoadedStars(): Loaded<Stars> {
  const client = useClient()
  const loaded = useLoaded<Stars>('stars', () => client.stars.list({ limit: 100 }))
  const { value, change, reload } = loaded
  const known = useRef(value)
  known.current = value
  useBackOnline(reload)
  useEffect(
    () =>
      client.on(table.events.starChanged, ({ message_id, is_starred }) => {
        if (!is_starred) change(without(message_id))
        else if (!known.current?.messages.some((star) => star.message_id === message_id)) reload()
      }),
    [client, change, reload],
  )
  return loaded
}

export const StarsContext = createContext<Loaded<Stars> | null>(null)

/** The same, with what adds the page after those that are shown; null where there is none. */
export function useStars(): Loaded<Stars> & { more: (() => Promise<void>) | null } {
  const client = useClient()
  const loaded = useContext(StarsContext)
  if (!loaded) throw new Error('Nobody is signed in above this component.')
  const before = loaded.value?.next ?? null
  const more = async () => {
    const page = await client.stars.list({ limit: 100, before })
    loaded.change((all) => ({ messages: [...all.messages, ...page.messages], next: page.next }))
  }
  return { ...loaded, more: before === null ? null : more }
}

/** Whether the account has starred a message. */
export const useIsStarred = (id: string): boolean =>
  useContext(StarsContext)?.value?.messages.some(({ message_id }) => message_id === id) ?? false

/** Stars a message, or takes the star away. */
export function useStarring(
  account: string,
): (message: Pick<Message, 'id' | 'room'>, isStarred: boolean) => Promise<void> {
  const client = useClient()
  const { change } = useStars()
  return async ({ id, room }, isStarred) => {
    if (!isStarred) {
      await client.stars.remove({ messageId: id })
      return change(without(id))
    }
    const peer = peerIn(room, account)
    const place = peer === null ? { channelId: room.id } : { peerAddress: peer }
    const { starred } = await client.stars.add({ messageId: id, messageType: room.type, ...place })
    change((all) => ({ ...all, messages: [starred, ...without(id)(all).messages] }))
  }
}
