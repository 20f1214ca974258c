import { useCallback, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { Client } from '#client/sdk/types'
import type { Room } from '#shared/api/room'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { lookOf } from './kind.ts'
import { goTo } from './route.ts'
import { keyOf, refOf, useRoomList } from './use-rooms.ts'

const keptMilliseconds = 60_000
const asked = new WeakMap<Client, { at: number; rooms: Promise<readonly Room[]> }>()

/** Asked once a minute: the list is drawn anew on each step through the page. */
function openTo(client: Client): Promise<readonly Room[]> {
  const known = asked.get(client)
  if (known && performance.now() - known.at < keptMilliseconds) return known.rooms
  const rooms = client.inbox.openAgain({}).then((answer) => answer.rooms)
  asked.set(client, { at: performance.now(), rooms })
  rooms.catch(() => asked.delete(client))
  return rooms
}

/** The rooms whose ban is over, each with a press to come back. */
export function OpenAgain() {
  const client = useClient()
  const list = useRoomList()
  const isKnown = list.value !== null
  const { value, reload: load } = useLoaded<readonly Room[]>(`open again ${isKnown}`, async () =>
    isKnown ? openTo(client) : [],
  )
  const reload = useCallback(() => {
    asked.delete(client)
    load()
  }, [client, load])
  useEffect(() => client.on(table.events.access, reload), [client, reload])
  const own = new Set(list.value?.map(keyOf))
  const open = value?.filter((room) => !own.has(keyOf(room))) ?? []
  const back = async (room: Room) => {
    const ref = refOf(room)
    await client.rooms.join({ room: ref })
    list.reload()
    reload()
    goTo(ref)
  }
  if (open.length === 0) return null
  return (
    <section aria-label="Open to you again">
      <ul>
        {open.map((room) => (
          <li key={room.id}>
            <ActButton className="room-row" onPress={() => back(room)}>
              <span className="room-mark">
                <Icon name={lookOf(room).icon ?? 'hash'} />
              </span>
              <span className="grow">
                <span className="room-name">{isolated(room.name)}</span>
                <small className="room-last">Your ban is over. Come back</small>
              </span>
            </ActButton>
          </li>
        ))}
      </ul>
    </section>
  )
}
