import { useCallback, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { Room } from '#shared/api/rooms/room'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { askedOnce, forgetAnswer } from '../kit/asked-once.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import { lookOf } from './kind.ts'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { keyOf, refOf, useRoomList } from './use-rooms.ts'

const name = 'open-again'

/** The rooms whose ban is over, each with a press to come back. */
export function OpenAgain() {
  const client = useClient()
  const list = useRoomList()
  const isKnown = list.value !== null
  const { value, reload: load } = useLoaded<readonly Room[]>(`${name} ${isKnown}`, async () =>
    isKnown ? askedOnce(client, name, async () => (await client.inbox.openAgain({})).rooms) : [],
  )
  const reload = useCallback(() => {
    forgetAnswer(client, name)
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
    <section aria-label={t.openAgain.title}>
      <ul>
        {open.map((room) => (
          <li key={room.id}>
            <ActButton className={styles.roomRow} onPress={() => back(room)}>
              <span className={styles.roomMark}>
                <Icon name={lookOf(room).icon ?? 'hash'} />
              </span>
              <span className="grow">
                <span className={styles.roomName}>{isolated(room.name)}</span>
                <small className={styles.roomLast}>{t.openAgain.hint}</small>
              </span>
            </ActButton>
          </li>
        ))}
      </ul>
    </section>
  )
}
