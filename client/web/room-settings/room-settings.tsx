import { useId, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import type { RoomSettingsPart } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import settingsStyles from '../accounts/settings.module.css'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { ShownOnce } from '../kit/shown-once.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useSubmit } from '../kit/use-submit.ts'
import { PictureField } from '../media/picture-field.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { LogTab } from '../moderation/log-tab.tsx'
import { RulesTab } from '../moderation/rules-tab.tsx'
import { useModeration } from '../moderation/use-moderation.ts'
import { WordsTab } from '../moderation/words-tab.tsx'
import { InviteLinks } from '../rooms/invite-links.tsx'
import { kindOf, lookOf } from '../rooms/kind.ts'
import { LeaveRoom } from '../rooms/leave-room.tsx'
import { MemberList } from '../rooms/members-panel.tsx'
import { PeopleForm } from '../rooms/people-form.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { TopicForm } from '../rooms/room-topic.tsx'
import { linkToRoom, linkToRoomSettings, openDialog } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { Webhooks } from '../rooms/webhooks.tsx'
import { roomSettingTexts as t } from '../texts/room-settings.ts'
import { roomTexts } from '../texts/rooms.ts'
import { AgentsOfRoom } from './agents-of-room.tsx'
import { roomSettingsPartsOf } from './parts.ts'

const dangerZoneTexts = t.danger

type GraveAct = 'leave' | 'archive'

/** What cannot be taken back: each act says what it does, and asks once more. */
function DangerZone({ state, onAsk }: { state: RoomState; onAsk: (act: GraveAct) => void }) {
  const { live, rights } = useOpenRoom()
  const { role } = state.me
  const runsIt = role === kindOf(live.ref).runBy
  // Admins of a room that has an owner may not close it; admins of the installation may.
  const mayArchive = runsIt || (rights.isAdmin && role !== 'admin')
  return (
    <>
      <ul className="quiet-list" aria-label={t.parts.danger}>
        {runsIt && (
          <Act
            title={dangerZoneTexts.handOver}
            hint={dangerZoneTexts.handOverHint}
            action={dangerZoneTexts.chooseMember}
            onPress={() => openDialog(linkToRoomSettings(live.ref, 'roles'))}
          />
        )}
        {lookOf(live.ref).canLeave && (
          <Act
            title={dangerZoneTexts.leave}
            hint={dangerZoneTexts.leaveHint}
            action={dangerZoneTexts.leaveAction}
            onPress={() => onAsk('leave')}
          />
        )}
        {mayArchive && state.room?.is_active && (
          <Act
            title={dangerZoneTexts.archive}
            hint={dangerZoneTexts.archiveHint}
            action={dangerZoneTexts.archiveAction}
            onPress={() => onAsk('archive')}
          />
        )}
      </ul>
      {state.room?.is_active === false && <p className="banner">{dangerZoneTexts.isArchived}</p>}
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

function ArchiveRoom({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const { reload } = useRoomList()
  const tell = useTell()
  const archive = async () => {
    await client.rooms.archive({ room: live.ref })
    reload()
    tell(dangerZoneTexts.archived)
    onClose()
  }
  return (
    <Dialog title={dangerZoneTexts.archive} onClose={onClose}>
      <div className="stack wide">
        <p>{dangerZoneTexts.question({ room: isolated(name) })}</p>
        <p className="hint">{dangerZoneTexts.archiveHint}</p>
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            {dangerZoneTexts.cancel}
          </button>
          <ActButton className="button grave" onPress={archive}>
            {dangerZoneTexts.archiveNow}
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}

const overviewTexts = t.overview

/** The name, topic and icon of a room, as far as the account may change them, and its address. */
function RoomOverview({ state: { room } }: { state: RoomState }) {
  const { live, rights } = useOpenRoom()
  const tell = useTell()
  const address = useId()
  const storesFiles = Boolean(useSession().status?.media)
  if (!room) return <Skeleton rows={4} />
  return (
    <>
      {rights.isAdmin && room.is_active && <DetailsForm room={room} />}
      {rights.canSetTopic && room.is_active && (
        <TopicForm topic={room.topic} onSaved={() => tell(overviewTexts.topicSaved)} />
      )}
      {rights.isModerator && storesFiles && lookOf(live.ref).icon !== null && <RoomIconField url={room.icon_url} />}
      <section className="stack" aria-labelledby={address}>
        <h3 className="label" id={address}>
          {overviewTexts.address}
        </h3>
        <ShownOnce
          isLasting
          what="link"
          label={overviewTexts.address}
          value={location.origin + linkToRoom(live.ref)}
          hint={overviewTexts.addressHint}
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
    tell(overviewTexts.saved)
  })
  return (
    <form className="stack" aria-label={overviewTexts.details} onSubmit={submit}>
      <label className="field">
        <span>{overviewTexts.name}</span>
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
        <span>{overviewTexts.description}</span>
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
          {overviewTexts.save}
        </button>
      </div>
    </form>
  )
}

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
      <Dialog title={t.title} isBroad hasAddress onClose={onClose}>
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

/** Gives the open room an icon, or takes it away. */
function RoomIconField({ url }: { url: string | null }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const rooms = useRoomList()
  const picture = useStoredPicture(url)
  return (
    <PictureField
      title={roomTexts.icon.field}
      shown={
        <span className="avatar large">
          {picture ? <img src={picture} alt={roomTexts.icon.current} /> : <Icon name="hash" />}
        </span>
      }
      onStore={(file) => client.uploads.icon({ room: live.ref, file }).then(rooms.reload)}
      onRemove={url === null ? undefined : () => client.uploads.removeIcon({ room: live.ref }).then(rooms.reload)}
    />
  )
}

/** Adds people to a group by their names. */
function AddPeople({ id }: { id: string }) {
  const client = useClient()
  const add = async (found: string[]) => {
    const { added, invited } = await client.rooms.addMembers({ id, addresses: found })
    return broughtIn(added.length, invited.length)
  }
  return (
    <PeopleForm
      title={roomTexts.people.add}
      field={roomTexts.people.field}
      hint={roomTexts.people.hint}
      maxLength={4_500}
      action={roomTexts.people.submit}
      onFound={add}
    />
  )
}

/** Friends are added, others are asked first. */
function broughtIn(added: number, invited: number): string {
  if (added === 0 && invited === 0) return roomTexts.people.alreadyIn
  const addedText = roomTexts.people.added({ count: added })
  if (invited === 0) return addedText
  const invitedText = roomTexts.people.invited({ count: invited })
  return added === 0 ? invitedText : roomTexts.people.addedAndInvited({ added: addedText, invited: invitedText })
}
