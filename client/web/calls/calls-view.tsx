import { AgentHead } from '../agents/agent-head.tsx'
import { OwnCalls } from '../booking/own-calls.tsx'
import { goTo } from '../rooms/route.ts'
import { callTexts as t } from '../texts/calls.ts'
import { controlTexts } from '../texts/controls.ts'
import { CallList } from './call-list.tsx'
import { MeetingList } from './meeting-list.tsx'

export function CallsView() {
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: controlTexts.backToRooms, go: () => goTo(null) }} />
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
      <h2 id="booked-calls">{t.scheduled}</h2>
      <OwnCalls />
    </section>
  )
}
