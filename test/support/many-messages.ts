import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import type { Booted } from './boot.ts'
import { plainMessage } from './plain-message.ts'
import { times } from './times.ts'

/** So many share a turn of the log. */
const atOnce = 500

/** Stores messages of an account without any door, each with its number after the text. */
export async function storeMessages(
  { apps: [app] }: Booted,
  room: RoomRef,
  account: string,
  { count, text }: { count: number; text: string },
): Promise<void> {
  if (!app) throw new Error('No node')
  const { node } = app
  const actor = await actorOf(node, account)
  for (let start = 0; start < count; start += atOnce) {
    const numbers = times(Math.min(atOnce, count - start), (at) => start + at)
    const sending = numbers.map((number) =>
      node.log.act(roomKey(room), {
        sender: account,
        makes: messageCreated,
        judge: (view) => ({
          accept: entryOf(view, actor, messageCreated, plainMessage(`${text} ${number}`)),
        }),
      }),
    )
    await Promise.all(sending)
  }
}
