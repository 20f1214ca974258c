import { type ReactNode, useState } from 'react'
import type { Client } from '#client/sdk/types'
import type { AttendanceCollection, AttendanceEvent } from '#shared/api/attendance'
import type { Room } from '#shared/api/room'
import { AppError } from '#shared/errors'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, plural, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { GateRefusal } from './gate-refusal.tsx'
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
    <Dialog title="From my tokens" onClose={onClose} isBroad>
      {refused ? (
        <GateRefusal {...refused} onPassed={() => join(refused.room)} onBack={() => setRefused(null)} />
      ) : (
        <div className="stack">
          <p className="hint">
            Events you hold a token of have a room for everybody who was there.
            {lists && ` Looked up for ${lists.addresses.map(shortAddress).join(' and ')}.`}
          </p>
          {lists?.error && <p className="problem">{lists.error}</p>}
          <Listed
            loaded={{ ...own, value: lists?.rows ?? null }}
            empty={<Blank icon="ticket" title="No tokens found" />}
          >
            {(rows) => <Rows rows={rows} onEnter={enter} />}
          </Listed>
          {lists && lists.others.length > 0 && (
            <section className="stack" aria-labelledby="others-tokens">
              <h3 id="others-tokens">For holders of other tokens</h3>
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
        const act = !row.channel ? 'Create' : row.channel.is_member ? 'Open' : 'Join'
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
              className={`button small ${act === 'Open' ? '' : 'main'}`}
              aria-label={act === 'Create' ? `Create the channel of ${row.name}` : `${act} ${row.name}`}
              onPress={() => onEnter(row)}
            >
              {act}
            </ActButton>
          </li>
        )
      })}
    </ul>
  )
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
  return error === 'Failed to fetch'
    ? 'The provider of tokens did not answer for all of it. The list may be incomplete.'
    : 'This server does not look up all tokens: no provider of them is configured.'
}

const aboutChannel = (channel: Room | null): string =>
  channel ? plural(channel.member_count, 'member') : 'No channel yet'

const rowOfEvent = (event: AttendanceEvent & { channel: Room | null }): Row => ({
  key: `event ${event.eventId}`,
  name: event.eventName,
  about: `Event · ${aboutChannel(event.channel)}`,
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
  about: `Collection of ${plural(collection.dropsCount, 'event')} · ${aboutChannel(collection.channel)}`,
  channel: collection.channel,
  found: {
    attendanceCollectionId: collection.id,
    attendanceCollectionName: collection.title,
    ...(collection.logoImageUrl?.startsWith('https:') ? { attendanceCollectionImageUrl: collection.logoImageUrl } : {}),
  },
})
