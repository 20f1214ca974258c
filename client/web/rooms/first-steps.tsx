import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { Icon } from '../kit/icon.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { kindOf } from './kind.ts'
import { useOpenRoom } from './room-context.ts'
import { TopicDialog } from './room-topic.tsx'
import { linkToRoomSettings, openDialog } from './route.ts'

/** In an empty room, what its manager does first. Each button is gone once that is done. */
export function FirstSteps({ state }: { state: RoomState }) {
  const { live, rights } = useOpenRoom()
  const [showsTopic, setShowsTopic] = useState(false)
  const invites = rights.canManage && kindOf(live.ref).joining !== 'from the id' && state.membersCount < 2
  const writesTopic = rights.canSetTopic && state.room !== null && state.room.topic === null
  if (!invites && !writesTopic) return null
  return (
    <div className="row wrap">
      {invites && (
        <button
          type="button"
          className="button"
          onClick={() => openDialog(linkToRoomSettings(live.ref, 'invitations'))}
        >
          <Icon name="people" />
          {t.firstSteps.invite}
        </button>
      )}
      {writesTopic && (
        <button type="button" className="button" onClick={() => setShowsTopic(true)}>
          <Icon name="pencil" />
          {t.firstSteps.topic}
        </button>
      )}
      {showsTopic && <TopicDialog topic={null} onClose={() => setShowsTopic(false)} />}
    </div>
  )
}
