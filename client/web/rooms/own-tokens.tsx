import { type ReactNode, useState } from 'react'
import type { Client } from '#client/sdk/types'
import type { AttendanceCollection, AttendanceEvent } from '#shared/api/rooms/attendance'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { gatedRoomTexts as g } from '../texts/rooms.ts'
import { GateRefusal } from './gate-card.tsx'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

/** An event or a collection whose token one holds, or only its channel, where one holds none. */
interface Row {
  key: string
  name: string
  about: string
  channel: Room | null
  /** What makes its channel; null where somebody else has to. */
  found: { [field: string]: string | number } | null
}

interface Own {
  addresses: readonly string[]
  rows: readonly Row[]
  others: readonly Row[]
  /** Why the list may be incomplete. */
  error: string | null
}

export function OwnTokens({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const { account } = useSession()
  const { reload } = useRoomList()
  const own = useLoaded(`tokens ${account}`, () => loadOwn(client, account))
  const [refused, setRefused] = useState<{ room: Room; refusal: AppError } | null>(null)

  const open = (room: Room) => {
    reload()
    goTo(refOf(room))
    onClose()
  }
  const join = async (room: Room) => {
    await client.rooms.join({ room: refOf(room) })
    open(room)
  }
  const enter = async ({ channel, found }: Row) => {
    if (!channel) return open((await create(client, found ?? {})).channel)
    if (channel.is_member) return open(channel)
    try {
      await join(channel)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'GATE_NOT_PASSED') throw error
      setRefused({ room: channel, refusal: error })
    }
  }

  const lists = own.value
  return (
    <Dialog title={g.tokens.title} onClose={onClose} isBroad hasAddress>
      {refused ? (
        <GateRefusal {...refused} onPassed={() => join(refused.room)} onBack={() => setRefused(null)} />
      ) : (
        <div className="stack">
          <p className="hint">{lists ? g.tokens.hintFor({ addresses: addressesIn(lists) }) : g.tokens.hint}</p>
          {lists?.error && <p className="problem">{lists.error}</p>}
          <Listed
            loaded={{ ...own, value: lists?.rows ?? null }}
            empty={<Blank icon="ticket" title={g.tokens.empty} />}
          >
            {(rows) => <Rows rows={rows} onEnter={enter} />}
          </Listed>
          {lists && lists.others.length > 0 && (
            <section className="stack" aria-labelledby="others-tokens">
              <h3 id="others-tokens">{g.tokens.others}</h3>
              <Rows rows={lists.others} onEnter={enter} />
            </section>
          )}
        </div>
      )}
    </Dialog>
  )
}

function Rows({ rows, onEnter }: { rows: readonly Row[]; onEnter: (row: Row) => Promise<void> }): ReactNode {
  return (
    <ul className={styles.channels}>
      {rows.map((row) => {
        const { name, channel } = row
        const isOpen = channel?.is_member ?? false
        return (
          <li key={row.key}>
            <span className={styles.roomMark}>
              <Icon name="ticket" />
            </span>
            <span className="grow">
              <strong>{isolated(row.name)}</strong>
              <small>{row.about}</small>
            </span>
            <ActButton
              className={`button small ${isOpen ? '' : 'main'}`}
              aria-label={(!channel ? g.tokens.createOf : isOpen ? g.openOf : g.joinOf)({ name })}
              onPress={() => onEnter(row)}
            >
              {!channel ? g.tokens.create : isOpen ? g.open : g.join}
            </ActButton>
          </li>
        )
      })}
    </ul>
  )
}

/** The wallet of the account, and its smart account where there is one. */
const addressesIn = ({ addresses }: Own): string => {
  const [first = '', second] = addresses.map(shortAddress)
  return second === undefined ? first : g.tokens.and({ first, second })
}

const create = (client: Client, found: { [field: string]: string | number }) => client.rooms.createChannel(found)

async function loadOwn(client: Client, account: string): Promise<Own> {
  const smart = await client.wallet.smartWallet().catch(() => null)
  const addresses = [...new Set([account, smart?.smartWalletAddress?.toLowerCase() ?? account])]
  const asked = { addresses: addresses.join(',') }
  const [events, collections, listed] = await Promise.all([
    client.attendance.eventsWithChannels(asked),
    client.attendance.collectionsForUser(asked),
    client.rooms.list({ category: 'events' }),
  ])
  const rows = [...events.events.map(rowOfEvent), ...collections.collections.map(rowOfCollection)]
  const own = new Set(rows.map(({ channel }) => channel?.id))
  const others = listed.channels.filter(({ id, gate }) => gate?.by === 'attendance' && !own.has(id))
  return {
    addresses,
    rows,
    others: others.map((channel) => ({
      key: channel.id,
      name: channel.attendance_event_name ?? channel.attendance_collection_name ?? channel.name,
      about: aboutChannel(channel),
      channel,
      found: null,
    })),
    error: wordsOf(events.error ?? collections.error),
  }
}

const wordsOf = (error: string | undefined): string | null => {
  if (error === undefined) return null
  return error === 'Failed to fetch' ? g.tokens.incomplete : g.tokens.unavailable
}

const aboutChannel = (channel: Room | null): string =>
  channel ? g.tokens.members({ count: channel.member_count }) : g.tokens.noChannel

const rowOfEvent = (event: AttendanceEvent & { channel: Room | null }): Row => ({
  key: `event ${event.eventId}`,
  name: event.eventName,
  about: g.tokens.event({ about: aboutChannel(event.channel) }),
  channel: event.channel,
  found: {
    attendanceEventId: event.eventId,
    attendanceEventName: event.eventName,
    ...(event.imageUrl?.startsWith('https:') ? { attendanceImageUrl: event.imageUrl } : {}),
  },
})

const rowOfCollection = (collection: AttendanceCollection & { channel: Room | null }): Row => ({
  key: `collection ${collection.id}`,
  name: collection.title,
  about: g.tokens.collection({ count: collection.dropsCount, about: aboutChannel(collection.channel) }),
  channel: collection.channel,
  found: {
    attendanceCollectionId: collection.id,
    attendanceCollectionName: collection.title,
    ...(collection.logoImageUrl?.startsWith('https:') ? { attendanceCollectionImageUrl: collection.logoImageUrl } : {}),
  },
})
