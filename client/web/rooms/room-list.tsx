import { lazy, useCallback, useEffect, useRef, useState } from 'react'
import { table } from '#client/sdk/table'
import type { Room, RoomSummary } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { isAmong, useFolders } from '../folders/use-folders.ts'
import { useKey } from '../keys/use-key.ts'
import { ActButton } from '../kit/act-button.tsx'
import { askedOnce, forgetAnswer } from '../kit/asked-once.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import { valueTexts } from '../texts/values.ts'
import { Badge } from './badge.tsx'
import { kindOf, lookOf, sections } from './kind.ts'
import styles from './room-list.module.css'
import { RoomMark } from './room-mark.tsx'
import { titleOf } from './room-title.ts'
import roomsStyles from './rooms.module.css'
import { goTo, linkToRoom } from './route.ts'
import { keyOf, refOf, useRoomList } from './use-rooms.ts'

const name = 'open-again'

/** The rooms whose ban is over, each with a press to come back. */
function OpenAgain() {
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
            <ActButton className={roomsStyles.roomRow} onPress={() => back(room)}>
              <span className={roomsStyles.roomMark}>
                <Icon name={lookOf(room).icon ?? 'hash'} />
              </span>
              <span className="grow">
                <span className={roomsStyles.roomName}>{isolated(room.name)}</span>
                <small className={roomsStyles.roomLast}>{t.openAgain.hint}</small>
              </span>
            </ActButton>
          </li>
        ))}
      </ul>
    </section>
  )
}

type RoomOrder = 'name' | 'unread'
const kept = 'plaza.room-order'

const byName = (one: RoomSummary, other: RoomSummary): number =>
  Number(lookOf(other).isFirst) - Number(lookOf(one).isFirst) || titleOf(one).localeCompare(titleOf(other))
const weight = ({ unread, mentions, is_muted }: RoomSummary): number =>
  is_muted || unread === 0 ? 0 : mentions > 0 ? 2 : 1
const orders = {
  name: byName,
  unread: (one: RoomSummary, other: RoomSummary) => weight(other) - weight(one) || byName(one, other),
}

/** The rooms in the chosen order; no room moves while the pointer or the focus is in the list. */
function useRoomOrder(rooms: readonly RoomSummary[]) {
  const [order, setOrder] = useState<RoomOrder>(() => (localStorage.getItem(kept) === 'unread' ? 'unread' : 'name'))
  const [isHeld, setHeld] = useState(false)
  const shown = useRef<readonly string[]>([])
  const sorted = rooms.toSorted(orders[order])
  const ordered = isHeld ? inPlace(sorted, shown.current) : sorted
  useEffect(() => {
    shown.current = ordered.map(keyOf)
  })

  const choose = (next: RoomOrder) => {
    localStorage.setItem(kept, next)
    shown.current = []
    setOrder(next)
  }
  const held = {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocus: () => setHeld(true),
    onBlur: () => setHeld(false),
  }
  return { ordered, order, choose, held }
}

/** Keeps the order that is shown, and appends new rooms. */
function inPlace(sorted: readonly RoomSummary[], shown: readonly string[]): readonly RoomSummary[] {
  const placeOf = (room: RoomSummary) => {
    const at = shown.indexOf(keyOf(room))
    return at < 0 ? shown.length : at
  }
  return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
}

const FolderTabs = lazy(async () => ({ default: (await import('../folders/folder-tabs.tsx')).FolderTabs }))

const shownPart = 'shown-rooms'

export function RoomList(props: {
  rooms: Loaded<readonly RoomSummary[]>
  chosen: RoomRef | null
  onBrowse: () => void
  onCreate: () => void
}) {
  const chosenKey = props.chosen ? roomKey(props.chosen) : null
  // What is known stays, and why nothing newer comes is said above it all.
  const loaded = props.rooms.value ? { ...props.rooms, error: null } : props.rooms
  const arranged = useFolders().value
  const folders = arranged?.folders ?? []
  const [turnedTo, turnTo] = useState<string | null>(null)
  const folder = folders.find(({ id }) => id === turnedTo) ?? null
  const isShown = (room: RoomSummary) => folder === null || isAmong(folder.chats, refOf(room))
  const hasTabs = folders.length > 0
  return (
    <>
      {hasTabs && (
        <LazyBoundary>
          <FolderTabs
            folders={folders}
            rooms={loaded.value ?? []}
            controls={shownPart}
            chosen={folder?.id ?? null}
            onChoose={turnTo}
          />
        </LazyBoundary>
      )}
      <nav className={styles.roomList} aria-label={t.list.title}>
        <div {...(hasTabs && { id: shownPart, role: 'tabpanel', 'aria-label': folder?.label ?? t.list.all })}>
          <Listed
            loaded={{ ...loaded, value: loaded.value?.filter(isShown) ?? null }}
            empty={folder ? <NoneInFolder /> : <NoRooms onBrowse={props.onBrowse} onCreate={props.onCreate} />}
          >
            {(rooms) => <Sections rooms={rooms} pinned={arranged?.pinned.map(roomKey) ?? []} chosenKey={chosenKey} />}
          </Listed>
        </div>
        <OpenAgain />
        {folder === null && <ArchivedRooms chosenKey={chosenKey} />}
      </nav>
    </>
  )
}

function ArchivedRooms({ chosenKey }: { chosenKey: string | null }) {
  const { archived } = useRoomList()
  if (archived.length === 0) return null
  return (
    <details>
      <summary className="section-title">{t.list.archived}</summary>
      <ul>
        {archived.map((room) => (
          <RoomRow key={keyOf(room)} room={room} isPinned={false} isChosen={keyOf(room) === chosenKey} />
        ))}
      </ul>
    </details>
  )
}

function Sections(props: { rooms: readonly RoomSummary[]; pinned: readonly string[]; chosenKey: string | null }) {
  const { rooms, pinned, chosenKey } = props
  const { ordered, order, choose, held } = useRoomOrder(rooms)
  const isByUnread = order === 'unread'
  const first = pinned.flatMap((key) => ordered.find((room) => keyOf(room) === key) ?? [])
  const rest = ordered.filter((room) => !first.includes(room))
  const parts = [
    { title: t.list.pinned, own: first },
    ...sections.map((section) => ({
      title: t.sections[section],
      own: rest.filter((room) => lookOf(room).section === section),
    })),
  ].filter(({ own }) => own.length > 0)
  useRoomKeys(
    parts.flatMap(({ own }) => own),
    chosenKey,
  )
  return (
    <div {...held}>
      {parts.map(({ title, own }, at) => (
        <section key={title}>
          <header className="row">
            <h2 className="section-title grow">{title}</h2>
            {at === 0 && (
              <button
                type="button"
                className={styles.roomSort}
                aria-pressed={isByUnread}
                title={isByUnread ? t.list.byUnread : t.list.byName}
                onClick={() => choose(isByUnread ? 'name' : 'unread')}
              >
                {t.list.unreadFirst}
              </button>
            )}
          </header>
          <ul>
            {own.map((room) => (
              <RoomRow key={keyOf(room)} room={room} isPinned={own === first} isChosen={keyOf(room) === chosenKey} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

/** The keys for the room before and after the chosen one, in the order of the list and on from its other end. */
function useRoomKeys(shown: readonly RoomSummary[], chosenKey: string | null): void {
  const at = shown.findIndex((room) => keyOf(room) === chosenKey)
  const after = [...shown.filter((_, place) => place > at), ...shown.filter((_, place) => place < at)]
  const isUnread = ({ unread, is_muted }: RoomSummary) => unread > 0 && !is_muted
  const to = (room: RoomSummary | undefined) => (room ? () => goTo(refOf(room)) : null)
  useKey('nextRoom', to(after[0]))
  useKey('previousRoom', to(after.at(-1)))
  useKey('nextUnread', to(after.find(isUnread)))
  useKey('previousUnread', to(after.findLast(isUnread)))
}

const NoneInFolder = () => (
  <Blank icon="folder" title={t.list.folderEmpty}>
    <p>{t.list.folderEmptyHint}</p>
  </Blank>
)

function NoRooms({ onBrowse, onCreate }: { onBrowse: () => void; onCreate: () => void }) {
  return (
    <Blank icon="hash" title={t.list.empty}>
      <p>{t.list.emptyHint}</p>
      <div className="row">
        <button type="button" className="button small" onClick={onBrowse}>
          {t.list.browse}
        </button>
        <button type="button" className="button small" onClick={onCreate}>
          {t.list.create}
        </button>
      </div>
    </Blank>
  )
}

function RoomRow({ room, isPinned, isChosen }: { room: RoomSummary; isPinned: boolean; isChosen: boolean }) {
  const name = titleOf(room)
  const { account } = useSession()
  const { unread } = room
  return (
    <li>
      <a
        className={`${roomsStyles.roomRow} ${unread > 0 && !room.is_muted ? 'unread' : ''}`}
        href={linkToRoom(refOf(room))}
        aria-current={isChosen ? 'page' : undefined}
        title={room.peer?.id}
      >
        <RoomMark room={room} />
        <span className="grow">
          <span className={roomsStyles.roomName}>
            {name}
            {room.access_level === 'staff' && <span className="unseen">, {t.list.staff}</span>}
          </span>
          <small className={roomsStyles.roomLast} dir="auto">
            {previewOf(room, account)}
          </small>
        </span>
        {isPinned && <Icon name="pin" />}
        {room.is_muted && <Icon name="quiet" />}
        {unread > 0 && <Badge unread={unread} mentions={room.mentions} />}
      </a>
    </li>
  )
}

const wordless: ReadonlyMap<string, string> = new Map(Object.entries(valueTexts.previews))

/** `Ann: See you there`; what names nobody, such as a deleted message, stands alone. */
function previewOf({ description, last_message: last, ...room }: RoomSummary, account: string): string {
  if (!last) return description ? isolated(description) : t.list.noMessages
  const { sender_address, sender_name } = last
  const preview = wordless.get(last.preview) ?? last.preview
  // The server says of what is sealed that it is, and of what is in clear what it says.
  if (kindOf(room).isSealed) return isolated(preview)
  if (sender_name === null) return preview
  return `${isSameAccount(sender_address, account) ? t.list.you : nameOf(sender_name, sender_address)}: ${isolated(preview)}`
}
