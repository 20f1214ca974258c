import type { RoomSummary } from '#shared/api/rooms/room'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Problem } from '../../kit/notice.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { titleOf } from '../../rooms/room-title.ts'
import { useRoomList } from '../../rooms/use-rooms.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { useNames } from '../names.ts'
import { useBlocks } from '../use-blocked.ts'

export function BlockedPeople() {
  const client = useClient()
  const blocks = useBlocks()
  const nameFor = useNames(blocks.value?.map((block) => block.blocked_address) ?? [])
  const lift = async (userAddress: string) => {
    await client.social.unblock({ userAddress })
    blocks.changed()
  }
  return (
    <QuietList
      title={t.privacy.blocked}
      empty={t.privacy.noneBlocked}
      error={blocks.error}
      rows={blocks.value?.map((block) => ({
        key: block.id,
        name: nameFor(block.blocked_address),
        undo: () => lift(block.blocked_address),
      }))}
      undoing={t.privacy.unblock}
    />
  )
}

export function SilencedRooms() {
  const client = useClient()
  const rooms = useRoomList().value ?? []
  const mutes = useLoaded('mutes', async () => (await client.social.mutes()).mutes)
  return (
    <QuietList
      title={t.privacy.muted}
      empty={t.privacy.noneMuted}
      error={mutes.error}
      rows={mutes.value?.map((mute) => ({
        key: mute.id,
        name: nameIn(rooms, mute.conversation_id) ?? t.privacy.unknown,
        undo: async () => {
          await client.social.unmute({
            conversationType: mute.conversation_type,
            conversationId: mute.conversation_id,
          })
          mutes.reload()
        },
      }))}
      undoing={t.privacy.unmute}
    />
  )
}

function nameIn(rooms: readonly RoomSummary[], id: string): string | null {
  const room = rooms.find((one) => one.id === id || one.peer?.id.toLowerCase() === id)
  return room ? titleOf(room) : null
}

interface QuietRow {
  key: string
  name: string
  undo: () => Promise<void>
}

function QuietList(props: {
  title: string
  empty: string
  error: unknown
  rows: readonly QuietRow[] | undefined
  undoing: string
}) {
  return (
    <section className="stack">
      <h3 className="label">{props.title}</h3>
      <Problem error={props.error} />
      {props.rows?.length === 0 && <p className="hint">{props.empty}</p>}
      <ul className="quiet-list">
        {props.rows?.map(({ key, name, undo }) => (
          <li key={key} className="row">
            <span className="grow">{name}</span>
            <ActButton className="button small" onPress={undo}>
              {props.undoing}
            </ActButton>
          </li>
        ))}
      </ul>
    </section>
  )
}
