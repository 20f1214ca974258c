import { type Ref, useMemo, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Member } from '#shared/api/rooms/room'
import { isAgent } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import { useFocused } from '../kit/focus.ts'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useStoredPicture } from '../media/stored.ts'
import { SenderFace } from '../messages/sender-face.tsx'
import { roomSettingsPartsOf } from '../room-settings/parts.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { valueText, valueTexts } from '../texts/values.ts'
import styles from './members-panel.module.css'
import { lastPermissions, personOf, useNamesakes } from './namesakes.ts'
import { useOpenRoom } from './room-context.ts'
import { linkToRoomSettings, openDialog } from './route.ts'

const pageSize = 200
const nobody: readonly never[] = []
const ranks = ['owner', 'admin', 'moderator', 'member'] as const

export function MembersPanel({ state }: { state: RoomState }) {
  const field = useFocused<HTMLInputElement>()
  const { live, rights } = useOpenRoom()
  return (
    <div className="panel-body">
      {roomSettingsPartsOf(live.ref, rights).includes('invitations') && (
        <button
          type="button"
          className="button"
          aria-haspopup="dialog"
          onClick={() => openDialog(linkToRoomSettings(live.ref, 'invitations'))}
        >
          <Icon name="people" />
          {t.firstSteps.invite}
        </button>
      )}
      <MemberList state={state} field={field} />
    </div>
  )
}

/** The members of a room by their roles, and a field that finds them. */
export function MemberList({ state, field }: { state: RoomState; field?: Ref<HTMLInputElement> }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [wanted, setWanted] = useState('')
  const changed = lastPermissions(state)
  const members = useLoaded<readonly Member[]>(
    `${roomKey(live.ref)} ${state.membersCount} ${state.online} ${changed}`,
    async () => {
      const [{ members: found }, { staff }] = await Promise.all([
        client.rooms.members({ room: live.ref, limit: pageSize }),
        client.rooms.staff({ room: live.ref }),
      ])
      const runs = new Set(staff.map(({ user_address }) => user_address))
      return [...staff, ...found.filter(({ user_address }) => !runs.has(user_address))]
    },
  )
  const here = members.value ?? nobody
  const fits = (member: Member) =>
    `${nameOf(member.name, member.user_address)} ${member.username ?? ''} ${member.user_address}`
      .toLowerCase()
      .includes(wanted.trim().toLowerCase())

  return (
    <>
      <input
        dir="auto"
        ref={field}
        className="input"
        type="search"
        aria-label={t.list.find}
        placeholder={t.list.find}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <Listed loaded={members} empty={<Blank icon="people" title={t.list.empty} />}>
        {(rows) =>
          ranks.map((rank) => (
            <MemberSection
              key={rank}
              title={t.ranks[rank]}
              members={rows.filter((row) => row.role === rank && fits(row))}
              all={here}
            />
          ))
        }
      </Listed>
      {state.membersCount > pageSize && <p className="hint">{t.list.newest({ count: pageSize })}</p>}
    </>
  )
}

function MemberSection(props: { title: string; members: readonly Member[]; all: readonly Member[] }) {
  const { title, members, all } = props
  const { live } = useOpenRoom()
  const { markOf, isLikeStaff } = useNamesakes(useMemo(() => all.map(personOf), [all]))
  const open = useOpenPerson()
  if (members.length === 0) return null
  const ordered = members.toSorted((one, other) => Number(other.online) - Number(one.online))
  return (
    <section>
      <h3 className="section-title">
        {title} <span className="numerals">{members.length}</span>
      </h3>
      <ul>
        {ordered.map((member) => (
          <li key={member.user_address}>
            <button
              type="button"
              className={`${styles.member} ${member.online || isAgent(member.user_address) ? '' : 'away'}`}
              title={member.user_address}
              onClick={() => open({ id: member.user_address, name: member.name, role: member.role, live })}
            >
              <MemberFace member={member} />
              <span className="grow">
                {nameOf(member.name, member.user_address)}
                {markOf(personOf(member)) && <small className="handle"> {markOf(personOf(member))}</small>}
              </span>
              {member.role !== 'member' && (
                <span className={`chip role ${member.role}`}>{valueText(valueTexts.roles, member.role)}</span>
              )}
              {isLikeStaff(personOf(member)) && <span className="chip role grave">{t.list.notModerator}</span>}
              {isAgent(member.user_address) ? (
                <span className="chip role">{t.agent}</span>
              ) : (
                <span className="unseen">{member.online ? t.list.online : t.list.away}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function MemberFace({ member: { user_address, name, online, avatar } }: { member: Member }) {
  return <SenderFace id={user_address} name={name} isOnline={online} picture={useStoredPicture(avatar)} />
}
