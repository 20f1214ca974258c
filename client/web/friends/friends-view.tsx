import { AgentHead } from '../agents/agent-head.tsx'
import { goTo } from '../rooms/route.ts'
import { controlTexts } from '../texts/controls.ts'
import { friendTexts as t } from '../texts/friends.ts'
import { AddFriend } from './add-friend.tsx'
import { FriendList } from './friend-list.tsx'
import { Requests } from './requests.tsx'

export function FriendsView() {
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: controlTexts.backToRooms, go: () => goTo(null) }} />
      <div className="page">
        <AddFriend />
        <Requests />
        <FriendList />
      </div>
    </main>
  )
}
