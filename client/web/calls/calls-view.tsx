import { AgentHead } from '../agents/agent-head.tsx'
import { OwnCalls } from '../booking/own-calls.tsx'
import { goTo } from '../rooms/route.ts'
import { CallList } from './call-list.tsx'
import { MeetingList } from './meeting-list.tsx'

/** What is shown at `#/calls`. */
export function CallsView() {
  return (
    <main className="room" aria-label="Calls">
      <AgentHead title="Calls" back={{ title: 'Back to the rooms', go: () => goTo(null) }} />
      <div className="page">
        <MeetingList />
        <BookedCalls />
        <CallList />
      </div>
    </main>
  )
}

function BookedCalls() {
  return (
    <section aria-labelledby="booked-calls">
      <h2 id="booked-calls">Booked</h2>
      <OwnCalls />
    </section>
  )
}
