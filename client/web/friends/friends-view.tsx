import { AgentHead } from '../agents/agent-head.tsx'
import { goTo } from '../rooms/route.ts'
import { AddFriend } from './add-friend.tsx'
import { FriendList } from './friend-list.tsx'
import { Requests } from './requests.tsx'

/** What is shown at `#/friends`. */
export function FriendsView() {
  return (
    <main className="room" aria-label="Friends">
      <AgentHead title="Friends" back={{ title: 'Back to the rooms', go: () => goTo(null) }} />
      <div className="page">
        <AddFriend />
        <Requests />
        <FriendList />
      </div>
    </main>
  )
}
