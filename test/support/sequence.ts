import { streamEnd, streamItem } from '#shared/kit/connection'
import type { RoomRef } from '#shared/kit/primitives'
import type { Door, Person } from './people.ts'
import { linesOf } from './wallet.ts'

/** An answer that goes on, as it comes in. */
export interface Sequence<Item> {
  items: readonly Item[]
  /** The code it ended with; null where it came to its own end, `cut` where nothing said why. */
  end: Promise<string | null>
  stop(): Promise<void>
}

interface Last {
  success: boolean
  error?: { code: string }
}

/** Follows `GET path` over REST; fails where it is refused. */
export async function sequenceAt<Item>(url: string, token: string | null): Promise<Sequence<Item>> {
  const stopped = new AbortController()
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(url, { headers, signal: stopped.signal })
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  const items: Item[] = []
  const read = async () => {
    for await (const line of linesOf(answer)) {
      const item = JSON.parse(line) as Item & Partial<Last>
      if (item.success !== undefined) return item.error?.code ?? null
      items.push(item)
    }
    return 'cut'
  }
  return { items, end: read().catch(() => 'cut'), stop: async () => stopped.abort() }
}

const pathOf = ({ type, id }: RoomRef) => (id ? `${type}/${id}` : type)

/** Follows a room over either door. */
export async function following<Item>(
  door: Door,
  who: Person,
  input: { room: RoomRef; after_seq?: number },
  url = who.url,
): Promise<Sequence<Item>> {
  if (door === 'rest') {
    const query = `follow=true&after_seq=${input.after_seq ?? 0}`
    return sequenceAt(`${url}/api/rooms/${pathOf(input.room)}/events?${query}`, who.token)
  }
  const line = await who.line()
  const items: Item[] = []
  const early: { stream: string; item: unknown }[] = []
  let stream: string | null = null
  line.socket.on(streamItem.name, (told: { stream: string; item: unknown }) => {
    if (stream === null) early.push(told)
    else if (told.stream === stream) items.push(told.item as Item)
  })
  const answer = await who.ask('room:follow', input)
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  const named = (answer.data as { stream: string }).stream
  stream = named
  items.push(...early.filter((told) => told.stream === named).map(({ item }) => item as Item))
  const ended = line.hears(streamEnd, (told) => told.stream === named).then(({ error }) => error && String(error.code))
  const closed = line.hears('disconnect').then(() => 'cut')
  return {
    items,
    end: Promise.race([ended, closed]),
    stop: async () => void (await who.ask('stream:cancel', { stream: named })),
  }
}
