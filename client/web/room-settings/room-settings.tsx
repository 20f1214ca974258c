import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { RoomSettingsPart } from '#shared/kit/pages'
import settingsStyles from '../accounts/settings.module.css'
import { Dialog } from '../kit/dialog.tsx'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { LogTab } from '../moderation/log-tab.tsx'
import { RulesTab } from '../moderation/rules-tab.tsx'
import { useModeration } from '../moderation/use-moderation.ts'
import { WordsTab } from '../moderation/words-tab.tsx'
import { AddPeople } from '../rooms/add-people.tsx'
import { InviteLinks } from '../rooms/invite-links.tsx'
import { kindOf } from '../rooms/kind.ts'
import { LeaveRoom } from '../rooms/leave-room.tsx'
import { MemberList } from '../rooms/members-panel.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { linkToRoomSettings, openDialog } from '../rooms/route.ts'
import { Webhooks } from '../rooms/webhooks.tsx'
import { roomSettingTexts as t } from '../texts/room-settings.ts'
import { AgentsOfRoom } from './agents-of-room.tsx'
import { ArchiveRoom, DangerZone, type GraveAct } from './danger-zone.tsx'
import { RoomOverview } from './overview.tsx'
import { roomSettingsPartsOf } from './parts.ts'

interface RoomSettingsProps {
  state: RoomState
  part: RoomSettingsPart
  onClose: () => void
}

/** Everything that managers and moderators of a room set in it. Other members learn that it is not for them. */
export function RoomSettings({ state, part, onClose }: RoomSettingsProps) {
  const { live, rights } = useOpenRoom()
  const parts = roomSettingsPartsOf(live.ref, rights)
  const chosen = parts.find((one) => one === part) ?? parts[0]
  const [asked, setAsked] = useState<GraveAct | null>(null)
  const answer = () => setAsked(null)
  return (
    <>
      <Dialog title={t.title} isBroad onClose={onClose}>
        {chosen === undefined ? (
          <NoSettings isLoading={state.room === null && !state.error} />
        ) : (
          <>
            <Tabs
              label={t.title}
              tabs={parts.map((name) => ({ name, title: t.parts[name] }))}
              chosen={chosen}
              onChoose={(name) => openDialog(linkToRoomSettings(live.ref, name))}
            />
            <div
              className={`stack wide ${settingsStyles.settingsPage}`}
              role="tabpanel"
              aria-labelledby={`tab-${chosen}`}
            >
              <Part state={state} part={chosen} onAsk={setAsked} />
            </div>
          </>
        )}
      </Dialog>
      {asked === 'leave' && <LeaveRoom state={state} onClose={answer} />}
      {asked === 'archive' && state.room && <ArchiveRoom name={state.room.name} onClose={answer} />}
    </>
  )
}

function NoSettings({ isLoading }: { isLoading: boolean }) {
  if (isLoading) return <Skeleton />
  return (
    <Blank icon="lock" title={t.forbidden}>
      <p>{t.forbiddenHint}</p>
    </Blank>
  )
}

interface PartProps {
  state: RoomState
  part: RoomSettingsPart
  onAsk: (act: GraveAct) => void
}

function Part({ state, part, onAsk }: PartProps) {
  const { live } = useOpenRoom()
  const { log } = useModeration()
  switch (part) {
    case 'overview':
      return <RoomOverview state={state} />
    case 'roles':
      return (
        <>
          <p className="hint">{t.rolesHint}</p>
          <MemberList state={state} />
        </>
      )
    case 'permissions':
      return <RulesTab key={state.rulesVersion} state={state} />
    case 'words':
      return <WordsTab room={live.ref} />
    case 'invitations':
      return (
        <>
          {kindOf(live.ref).joining === 'invited' && <AddPeople id={live.ref.id ?? ''} />}
          <InviteLinks room={live.ref} />
        </>
      )
    case 'agents':
      return <AgentsOfRoom />
    case 'webhooks':
      return <Webhooks />
    case 'audit':
      return <LogTab log={log} state={state} />
    case 'danger':
      return <DangerZone state={state} onAsk={onAsk} />
  }
}
