import type { Starred } from '#shared/api/rooms/stars'
import { roomKey } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import { useSession } from '../accounts/session.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { lineOf } from '../media/words.ts'
import { titleOf } from '../rooms/room-title.ts'
import roomsStyles from '../rooms/rooms.module.css'
import { goTo, goToMessage } from '../rooms/route.ts'
import { keyOf, useRoomList } from '../rooms/use-rooms.ts'
import { controlTexts } from '../texts/controls.ts'
import { starTexts as t } from '../texts/stars.ts'
import { useStarring, useStars } from './use-stars.ts'

export function StarredView() {
  const { value, more, ...loaded } = useStars()
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: controlTexts.backToRooms, go: () => goTo(null) }} />
      <div className="page">
        <Listed
          loaded={{ ...loaded, value: value?.messages ?? null }}
          empty={
            <Blank icon="star" title={t.empty}>
              <p>{t.emptyHint}</p>
            </Blank>
          }
        >
          {(all) => (
            <ol className={roomsStyles.found} aria-label={t.title}>
              {all.map((star) => (
                <StarredRow key={star.id} star={star} />
              ))}
            </ol>
          )}
        </Listed>
        {more && (
          <ActButton className="button small" onPress={more}>
            {controlTexts.showMore}
          </ActButton>
        )}
      </div>
    </main>
  )
}

/** A press leads to the message. */
function StarredRow({ star }: { star: Starred }) {
  const client = useClient()
  const attempt = useAttempt()
  const { account } = useSession()
  const setStar = useStarring(account)
  const room = useRoomList().value?.find((one) => keyOf(one) === roomKey(star.room))
  const isSealed = sealedBy({ type: star.room.type, messaging_type: room?.messaging_type }) !== null
  const open = async () => {
    const before = new Date(Date.parse(star.original_created_at) + 1).toISOString()
    const { messages } = await client.messages.history({ room: star.room, before, limit: 50 })
    goToMessage(star.room, messages.find(({ id }) => id === star.message_id)?.seq)
  }
  return (
    <li className="row">
      <button type="button" onClick={() => attempt(open)}>
        <small>
          {nameOf(star.sender_name, star.sender_address)}
          {room && ` · ${titleOf(room)}`} · {fullTimeOf(star.original_created_at)}
        </small>
        <span dir="auto">{isSealed ? t.sealed : lineOf(star.content)}</span>
      </button>
      <button
        type="button"
        className="icon-button small"
        aria-label={t.remove}
        title={t.remove}
        onClick={() => attempt(() => setStar({ id: star.message_id, room: star.room }, false))}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}
