import { lazy } from 'react'
import type { RoomSummary } from '#shared/api/rooms/room'
import { linkTo, type PageAt } from '#shared/kit/pages'
import { useFriends } from '../friends/use-friends.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useStars } from '../stars/use-stars.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import { Badge } from './badge.tsx'
import { PlaceRow } from './place-row.tsx'
import { titleOf } from './room-title.ts'
import styles from './rooms.module.css'
import { linkToRoom } from './route.ts'
import { keyOf, refOf, useRoomList } from './use-rooms.ts'

const LiveNow = lazy(async () => ({ default: (await import('../streams/live-now.tsx')).LiveNow }))

/** What stands above the rooms, in this order, each for as long as it has something to show. */
export function Places({ page, chosenKey }: { page: PageAt | null; chosenKey: string | null }) {
  const opened = page?.name ?? 'home'
  const isStarred = opened === 'starred'
  const rooms = useRoomList().value ?? []
  const asking = useFriends().value?.incoming.length ?? 0
  const hasStars = (useStars().value?.messages.length ?? 0) > 0
  return (
    <nav aria-label={t.places.title}>
      <ul className={styles.places}>
        <Mentions rooms={rooms.filter((room) => room.mentions > 0 && !room.is_muted && keyOf(room) !== chosenKey)} />
        <LazyBoundary>
          <LiveNow isOpen={opened === 'live' || opened === 'liveNew'} />
        </LazyBoundary>
        <PlaceRow icon="agent" title={t.places.agents} href={linkTo('agents')} isOpen={opened.startsWith('agent')} />
        <PlaceRow icon="phone" title={t.places.calls} href={linkTo('calls')} isOpen={opened === 'calls'} />
        <PlaceRow
          icon="people"
          title={t.places.friends}
          href={linkTo('friends')}
          isOpen={opened === 'friends'}
          detail={asking > 0 && t.places.requests({ count: asking })}
        />
        {(hasStars || isStarred) && (
          <PlaceRow icon="star" title={t.places.starred} href={linkTo('starred')} isOpen={isStarred} />
        )}
      </ul>
    </nav>
  )
}

/** Leads to the first of the rooms in which somebody has mentioned the account since it read them. */
function Mentions({ rooms }: { rooms: readonly RoomSummary[] }) {
  const [first, ...others] = rooms
  if (!first) return null
  const mentions = rooms.reduce((sum, room) => sum + room.mentions, 0)
  return (
    <PlaceRow
      icon="mention"
      title={t.places.mentions}
      href={linkToRoom(refOf(first))}
      detail={
        others.length === 0 ? titleOf(first) : t.places.roomAndMore({ room: titleOf(first), count: others.length })
      }
      badge={<Badge unread={mentions} mentions={mentions} />}
    />
  )
}
