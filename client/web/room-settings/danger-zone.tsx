import type { RoomState } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { kindOf, lookOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { linkToRoomSettings, openDialog } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { roomSettingTexts } from '../texts/room-settings.ts'

const t = roomSettingTexts.danger

export type GraveAct = 'leave' | 'archive'

/** What cannot be taken back: each act says what it does, and asks once more. */
export function DangerZone({ state, onAsk }: { state: RoomState; onAsk: (act: GraveAct) => void }) {
  const { live, rights } = useOpenRoom()
  const { role } = state.me
  const runsIt = role === kindOf(live.ref).runBy
  // Admins of a room that has an owner may not close it; admins of the installation may.
  const mayArchive = runsIt || (rights.isAdmin && role !== 'admin')
  return (
    <>
      <ul className="quiet-list" aria-label={roomSettingTexts.parts.danger}>
        {runsIt && (
          <Act
            title={t.handOver}
            hint={t.handOverHint}
            action={t.chooseMember}
            onPress={() => openDialog(linkToRoomSettings(live.ref, 'roles'))}
          />
        )}
        {lookOf(live.ref).canLeave && (
          <Act title={t.leave} hint={t.leaveHint} action={t.leaveAction} onPress={() => onAsk('leave')} />
        )}
        {mayArchive && state.room?.is_active && (
          <Act title={t.archive} hint={t.archiveHint} action={t.archiveAction} onPress={() => onAsk('archive')} />
        )}
      </ul>
      {state.room?.is_active === false && <p className="banner">{t.isArchived}</p>}
    </>
  )
}

function Act(props: { title: string; hint: string; action: string; onPress: () => void }) {
  return (
    <li className="row wrap">
      <span className="grow">
        <strong>{props.title}</strong>
        <small className="hint">{props.hint}</small>
      </span>
      <button type="button" className="button small risky" onClick={props.onPress}>
        {props.action}
      </button>
    </li>
  )
}

export function ArchiveRoom({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const { reload } = useRoomList()
  const tell = useTell()
  const archive = async () => {
    await client.rooms.archive({ room: live.ref })
    reload()
    tell(t.archived)
    onClose()
  }
  return (
    <Dialog title={t.archive} onClose={onClose}>
      <div className="stack wide">
        <p>{t.question({ room: isolated(name) })}</p>
        <p className="hint">{t.archiveHint}</p>
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            {t.cancel}
          </button>
          <ActButton className="button grave" onPress={archive}>
            {t.archiveNow}
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}
