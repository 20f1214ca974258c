import { useId, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { ShownOnce } from '../kit/shown-once.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useSubmit } from '../kit/use-submit.ts'
import { lookOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { RoomIconField } from '../rooms/room-icon.tsx'
import { TopicForm } from '../rooms/room-topic.tsx'
import { linkToRoom } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { roomSettingTexts } from '../texts/room-settings.ts'

const t = roomSettingTexts.overview

/** The name, topic and icon of a room, as far as the account may change them, and its address. */
export function RoomOverview({ state: { room } }: { state: RoomState }) {
  const { live, rights } = useOpenRoom()
  const tell = useTell()
  const address = useId()
  const storesFiles = Boolean(useSession().status?.media)
  if (!room) return <Skeleton rows={4} />
  return (
    <>
      {rights.isAdmin && room.is_active && <DetailsForm room={room} />}
      {rights.canSetTopic && room.is_active && <TopicForm topic={room.topic} onSaved={() => tell(t.topicSaved)} />}
      {rights.isModerator && storesFiles && lookOf(live.ref).icon !== null && <RoomIconField url={room.icon_url} />}
      <section className="stack" aria-labelledby={address}>
        <h3 className="label" id={address}>
          {t.address}
        </h3>
        <ShownOnce
          isLasting
          what="link"
          label={t.address}
          value={location.origin + linkToRoom(live.ref)}
          hint={t.addressHint}
        />
      </section>
    </>
  )
}

function DetailsForm({ room }: { room: Room }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const { reload } = useRoomList()
  const tell = useTell()
  const [name, setName] = useState(room.name)
  const [about, setAbout] = useState(room.description ?? '')
  const changes = {
    ...(name.trim() !== room.name && { name: name.trim() }),
    ...(about.trim() !== (room.description ?? '') && { description: about.trim() || null }),
  }
  const { isBusy, problem, submit } = useSubmit(async () => {
    await client.rooms.update({ room: live.ref, ...changes })
    reload()
    tell(t.saved)
  })
  return (
    <form className="stack" aria-label={t.details} onSubmit={submit}>
      <label className="field">
        <span>{t.name}</span>
        <input
          dir="auto"
          className="input"
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.description}</span>
        <textarea
          dir="auto"
          className="input"
          rows={2}
          maxLength={500}
          value={about}
          onChange={({ target }) => setAbout(target.value)}
        />
      </label>
      <Problem error={problem} />
      <div className="row end">
        <button
          type="submit"
          className="button main"
          disabled={isBusy || !name.trim() || Object.keys(changes).length === 0}
        >
          {t.save}
        </button>
      </div>
    </form>
  )
}
