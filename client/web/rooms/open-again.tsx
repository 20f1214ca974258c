import { useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { Room } from '#shared/api/room'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { lookOf } from './kind.ts'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

/** The rooms whose ban is over, each with a press to come back. */
export function OpenAgain() {
  const client = useClient()
  const list = useRoomList()
  const known = list.value?.length ?? 0
  const { value, reload } = useLoaded<readonly Room[]>(`open again ${known}`, async () => {
    const { rooms } = await client.inbox.openAgain({})
    return rooms
  })
  useEffect(() => client.on(table.events.access, reload), [client, reload])
  const back = async (room: Room) => {
    const ref = refOf(room)
    await client.rooms.join({ room: ref })
    list.reload()
    reload()
    goTo(ref)
  }
  if (!value || value.length === 0) return null
  return (
    <section aria-label="Open to you again">
      <ul>
        {value.map((room) => (
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
