import type { RoomSummary } from '#shared/api/room'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useSession } from '../accounts/session.ts'
import { Avatar } from '../kit/avatar.tsx'
import { isolated, nameOf, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import type { Loaded } from '../kit/use-loaded.ts'
import { useStoredPicture } from '../media/stored.ts'
import { kindOf, lookOf, sections } from './kind.ts'
import { OpenAgain } from './open-again.tsx'
import { titleOf } from './room-title.ts'
import { useRoomOrder } from './use-room-order.ts'
import { keyOf } from './use-rooms.ts'

export function RoomList(props: {
  rooms: Loaded<readonly RoomSummary[]>
  chosen: RoomRef | null
  onBrowse: () => void
  onCreate: () => void
}) {
  const chosenKey = props.chosen ? roomKey(props.chosen) : null
  // What is known stays, and why nothing newer comes is said above it all.
  const loaded = props.rooms.value ? { ...props.rooms, error: null } : props.rooms
  return (
    <nav className="room-list" aria-label="Your rooms">
      <Listed loaded={loaded} empty={<NoRooms onBrowse={props.onBrowse} onCreate={props.onCreate} />}>
        {(rooms) => <Sections rooms={rooms} chosenKey={chosenKey} />}
      </Listed>
      <OpenAgain />
    </nav>
  )
}

function Sections({ rooms, chosenKey }: { rooms: readonly RoomSummary[]; chosenKey: string | null }) {
  const { ordered, order, choose, held } = useRoomOrder(rooms)
  const isByUnread = order === 'unread'
  return (
    <div {...held}>
      {sections.map((title, at) => {
        const own = ordered.filter((room) => lookOf(room).section === title)
        if (own.length === 0) return null
        return (
          <section key={title}>
            <header className="row">
              <h2 className="grow">{title}</h2>
              {at === 0 && (
                <button
                  type="button"
                  className="room-sort"
                  aria-pressed={isByUnread}
                  title={isByUnread ? 'Sorted by unread, then by name' : 'Sorted by name'}
                  onClick={() => choose(isByUnread ? 'name' : 'unread')}
                >
                  Unread first
                </button>
              )}
            </header>
            <ul>
              {own.map((room) => (
                <RoomRow key={keyOf(room)} room={room} isChosen={keyOf(room) === chosenKey} />
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function NoRooms({ onBrowse, onCreate }: { onBrowse: () => void; onCreate: () => void }) {
  return (
    <Blank icon="hash" title="No rooms yet">
      <p>Find a channel that is going on, or open one of your own.</p>
      <div className="row">
        <button type="button" className="button small" onClick={onBrowse}>
          Browse
        </button>
        <button type="button" className="button small" onClick={onCreate}>
          Create
        </button>
      </div>
    </Blank>
  )
}

function RoomRow({ room, isChosen }: { room: RoomSummary; isChosen: boolean }) {
  const name = titleOf(room)
  const { icon } = lookOf(room)
  const picture = useStoredPicture(room.icon_url)
  const { account } = useSession()
  const { unread } = room
  return (
    <li>
      <a
        className={`room-row ${unread > 0 && !room.is_muted ? 'unread' : ''}`}
        href={`#/${encodeURIComponent(keyOf(room))}`}
        aria-current={isChosen ? 'page' : undefined}
        title={room.peer?.id}
      >
        {icon ? (
          <span className="room-mark">
            {picture ? (
              <img src={picture} alt="" loading="lazy" referrerPolicy="no-referrer" />
            ) : (
              <Icon name={icon === 'hash' && room.access_level === 'staff' ? 'lock' : icon} />
            )}
          </span>
        ) : (
          <Avatar id={room.peer?.id ?? room.id} name={name} size="small" />
        )}
        <span className="grow">
          <span className="room-name">
            {name}
            {room.access_level === 'staff' && <span className="unseen">, staff</span>}
          </span>
          <small className="room-last">{previewOf(room, account)}</small>
        </span>
        {room.is_muted && <Icon name="quiet" />}
        {unread > 0 && <Badge unread={unread} mentions={room.mentions} />}
      </a>
    </li>
  )
}

export function Badge({ unread, mentions }: { unread: number; mentions: number }) {
  return (
    <span className={`badge ${mentions > 0 ? 'mentioned' : ''}`}>
      {mentions > 0 ? `@${mentions}` : unread > 99 ? '99+' : unread}
      <span className="unseen">{mentions > 0 ? plural(mentions, 'mention') : 'unread'}</span>
    </span>
  )
}

/** `Ann: See you there`; what names nobody, such as a deleted message, stands alone. */
function previewOf({ description, last_message: last, ...room }: RoomSummary, account: string): string {
  if (!last) return description ? isolated(description) : 'Nothing said yet'
  const { sender_address, sender_name, preview } = last
  // The server says of what is sealed that it is, and of what is in clear what it says.
  if (kindOf(room).isSealed) return isolated(preview)
  if (sender_name === null) return preview
  return `${sender_address === account ? 'You' : nameOf(sender_name, sender_address)}: ${isolated(preview)}`
}
