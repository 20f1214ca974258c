import { useState } from 'react'
import type { Room } from '#shared/api/rooms/room'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

/** Channels to join, and the other ways to a room. */
export function BrowseChannels(props: {
  onClose: () => void
  onOther: (way: 'roomTokens' | 'roomsNear' | 'roomNew') => void
}) {
  const { onClose, onOther } = props
  const client = useClient()
  const { reload } = useRoomList()
  const [search, setSearch] = useState('')
  const wanted = search.trim()
  const channels = useLoaded<readonly Room[]>(wanted, async () => {
    const { channels: found } = await client.rooms.list(wanted ? { search: wanted } : {})
    return found
  })

  const enter = async (room: Room) => {
    if (!room.is_member) await client.rooms.join({ room: refOf(room) })
    reload()
    goTo(refOf(room))
    onClose()
  }

  return (
    <Dialog title={t.channels.title} onClose={onClose} isBroad hasAddress>
      <div className="stack">
        <input
          dir="auto"
          className="input"
          type="search"
          aria-label={t.channels.find}
          placeholder={t.channels.find}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <div className={`row wrap ${styles.channelWays}`}>
          <button type="button" className="button small" onClick={() => onOther('roomsNear')}>
            <Icon name="place" />
            {t.channels.near}
          </button>
          <button type="button" className="button small" onClick={() => onOther('roomTokens')}>
            <Icon name="ticket" />
            {t.channels.tokens}
          </button>
          <a className="button small" href={linkTo('live')}>
            <Icon name="play" />
            {t.channels.live}
          </a>
        </div>
        <Listed loaded={channels} empty={<NoChannels search={wanted} onCreate={() => onOther('roomNew')} />}>
          {(rows) => (
            <ul className={styles.channels}>
              {rows.map((room) => (
                <li key={room.id}>
                  <span className={styles.roomMark}>
                    <Icon name="hash" />
                  </span>
                  <span className="grow">
                    <strong>{isolated(room.name)}</strong>
                    <small dir="auto">{room.description || t.channels.members({ count: room.member_count })}</small>
                  </span>
                  <ActButton
                    className={`button small ${room.is_member ? '' : 'main'}`}
                    aria-label={(room.is_member ? t.channels.openOf : t.channels.joinOf)({ name: room.name })}
                    onPress={() => enter(room)}
                  >
                    {room.is_member ? t.channels.open : t.channels.join}
                  </ActButton>
                </li>
              ))}
            </ul>
          )}
        </Listed>
      </div>
    </Dialog>
  )
}

function NoChannels({ search, onCreate }: { search: string; onCreate: () => void }) {
  return (
    <Blank icon="hash" title={search ? t.channels.notFound({ search }) : t.channels.empty}>
      <button type="button" className="button small" onClick={onCreate}>
        {t.channels.create}
      </button>
    </Blank>
  )
}
