import { useState } from 'react'
import type { Client } from '#client/sdk/types'
import { AppError } from '#shared/errors'
import { metresBetween, metresText, type Point } from '#shared/kit/earth'
import { foundedBy } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem } from '../kit/notice.tsx'
import { whereIAm } from '../kit/position.ts'
import { gatedRoomTexts as g, roomTexts as t } from '../texts/rooms.ts'
import { JoinPlace, type PlaceRoom, positionWords } from './join-place.tsx'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { useRoomList } from './use-rooms.ts'

type Chat = Awaited<ReturnType<Client['rooms']['listLocationRooms']>>['chats'][number]
interface Found {
  here: Point
  chats: readonly Chat[]
}

const nearMetres = 5_000
const type = foundedBy('createLocationRoom')
const refOfChat = ({ id }: Chat) => ({ type, id })
const placeOf = (chat: Chat): PlaceRoom => ({
  ref: refOfChat(chat),
  name: chat.name,
  gate: { place_name: chat.google_place_name, radius_m: chat.radius },
})

/** Rooms of places around, found and joined by where the browser says it is. */
export function NearRooms({ onClose, onCreate }: { onClose: () => void; onCreate: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const [found, setFound] = useState<Found | null>(null)
  const [refused, setRefused] = useState<{ chat: Chat; refusal: AppError } | null>(null)
  const [error, setError] = useState<unknown>(null)

  const look = async () => {
    setError(null)
    try {
      const here = await whereIAm(4)
      const asked = { lat: here.latitude, lng: here.longitude, radius: nearMetres }
      setFound({ here, chats: (await client.rooms.listLocationRooms(asked)).chats })
    } catch (cause) {
      setError(cause)
    }
  }
  const open = (chat: Chat) => {
    reload()
    goTo(refOfChat(chat))
    onClose()
  }
  const enter = async (chat: Chat, position: Point) => {
    try {
      if (!chat.is_member) await client.rooms.join({ room: refOfChat(chat), position })
      open(chat)
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.code !== 'GATE_NOT_PASSED') throw cause
      setRefused({ chat, refusal: cause })
    }
  }

  return (
    <Dialog title={g.near.title} onClose={onClose} isBroad hasAddress>
      {refused ? (
        <JoinPlace
          room={placeOf(refused.chat)}
          refusal={refused.refusal}
          onJoined={() => open(refused.chat)}
          onBack={() => setRefused(null)}
        />
      ) : (
        <div className="stack">
          <p>{g.near.hint}</p>
          <p className="hint">{positionWords}</p>
          <Problem error={error} />
          {found && found.chats.length > 0 && <Chats {...found} onEnter={enter} />}
          {found?.chats.length === 0 && (
            <Blank icon="place" title={g.near.empty({ distance: metresText(nearMetres) })}>
              <button type="button" className="button small" onClick={onCreate}>
                {g.near.create}
              </button>
            </Blank>
          )}
          <div className="row end">
            <ActButton className={`button ${found ? '' : 'main'}`} onPress={look}>
              <Icon name="place" /> {found ? g.near.refresh : t.place.use}
            </ActButton>
          </div>
        </div>
      )}
    </Dialog>
  )
}

function Chats({ here, chats, onEnter }: Found & { onEnter: (chat: Chat, here: Point) => Promise<void> }) {
  return (
    <ul className={styles.channels}>
      {chats.map((chat) => (
        <li key={chat.id}>
          <span className={styles.roomMark}>
            <Icon name="place" />
          </span>
          <span className="grow">
            <strong>{isolated(chat.name)}</strong>
            <small>
              {g.near.about({
                distance: metresText(metresBetween(here, chat)),
                count: chat.member_count,
                radius: metresText(chat.radius),
              })}
            </small>
          </span>
          <ActButton
            className={`button small ${chat.is_member ? '' : 'main'}`}
            aria-label={(chat.is_member ? g.openOf : g.joinOf)({ name: isolated(chat.name) })}
            onPress={() => onEnter(chat, here)}
          >
            {chat.is_member ? g.open : g.join}
          </ActButton>
        </li>
      ))}
    </ul>
  )
}
