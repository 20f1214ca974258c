import { messages } from '#shared/api/rooms/messages'
import { streamEnd, streamItem } from '#shared/kit/connection'
import type { CallOf, Operation } from '#shared/kit/contract'
import { type Door, eventOf, type Person, requestOf } from './people.ts'
import { linesOf } from './wallet.ts'

/** The items of a sequence, as they arrive. */
export interface Sequence<Item> {
  items: readonly Item[]
  /** The code with which it ended; null after a normal end, `cut` without a last line. */
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

/** Follows a room over either door. */
export const following = <Item>(door: Door, who: Person, input: CallOf<typeof messages.follow>, url = who.url) =>
  sequenceOf<Item>(door, who, messages.follow, input, url)

/** Asks any operation that answers with a sequence, over either door; fails where it is refused. */
export async function sequenceOf<Item, O extends Operation = Operation>(
  door: Door,
  who: Person,
  operation: O,
  input: CallOf<O>,
  url = who.url,
): Promise<Sequence<Item>> {
  if (door === 'rest')
    return sequenceAt(url + requestOf(operation.http ?? '', input).route.replace('GET ', ''), who.token)
  const { namespace, event } = eventOf(operation)
  const line = await who.line(namespace)
  const items: Item[] = []
  const early: { stream: string; item: unknown }[] = []
  let stream: string | null = null
  line.socket.on(streamItem.name, (told: { stream: string; item: unknown }) => {
    if (stream === null) early.push(told)
    else if (told.stream === stream) items.push(told.item as Item)
  })
  const answer = await who.ask(event, input, namespace)
  if (!answer.ok) throw new Error(JSON.stringify(answer.error))
  const named = (answer.data as { stream: string }).stream
  stream = named
  items.push(...early.filter((told) => told.stream === named).map(({ item }) => item as Item))
  const ended = line.hears(streamEnd, (told) => told.stream === named).then(({ error }) => error && String(error.code))
  const closed = line.hears('disconnect').then(() => 'cut')
  return {
    items,
    end: Promise.race([ended, closed]),
    stop: async () => void (await who.ask('stream:cancel', { stream: named }, namespace)),
  }
}
