import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Member } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import { inSuccession } from '#shared/kit/succession'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { valueText, valueTexts } from '../texts/values.ts'
import { kindOf } from './kind.ts'
import { personOf, useNamesakes } from './namesakes.ts'
import { useOpenRoom } from './room-context.ts'
import { goTo } from './route.ts'
import { closeRoom, useRoomList } from './use-rooms.ts'

/** Who may manage a room after somebody, the first of them where nobody is chosen; `areAll`: nobody else is there. */
interface Heirs {
  people: readonly Member[]
  areAll: boolean
}

/** Asks for confirmation before the account leaves the room, and who manages it then where nobody else does. */
export function LeaveRoom({ state, onClose }: { state: RoomState; onClose: () => void }) {
  const client = useClient()
  const rooms = useRoomList()
  const { live, account } = useOpenRoom()
  const [chosen, setChosen] = useState<string | null>(null)
  const { runBy, joining } = kindOf(live.ref)
  const heirs = useLoaded<Heirs | null>(roomKey(live.ref), async () => {
    if (runBy === null || state.room?.is_official || state.me.role === null || state.me.role === 'member') return null
    const [{ members, hasMore }, { staff }] = await Promise.all([
      client.rooms.members({ room: live.ref, limit: 200 }),
      client.rooms.staff({ room: live.ref }),
    ])
    const known = new Map([...members, ...staff].map((one) => [one.user_address, one]))
    if (known.get(account)?.role !== runBy) return null
    const others = [...known.values()].filter(({ user_address: id }) => !isSameAccount(id, account) && !isAgent(id))
    if (others.some(({ role }) => role === runBy)) return null
    return { people: others.toSorted(inSuccession), areAll: !hasMore }
  })
  const leave = async () => {
    const address = chosen ?? firstOf(heirs.value)
    if (address) await client.rooms.handOver({ room: live.ref, address })
    await client.rooms.leave({ room: live.ref })
    onClose()
    closeRoom(client, live.ref)
    rooms.reload()
    goTo(null)
  }

  return (
    <Dialog title={t.leave.title} onClose={onClose}>
      <div className="stack wide">
        <p>{state.room ? t.leave.question({ room: isolated(state.room.name) }) : t.leave.questionThis}</p>
        {heirs.value && <Heir heirs={heirs.value} chosen={chosen ?? firstOf(heirs.value)} onChoose={setChosen} />}
        {heirs.error !== null && <p className="hint">{t.leave.heirUnknown}</p>}
        {joining === 'invited' && <p>{t.leave.comeBack}</p>}
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            {t.leave.cancel}
          </button>
          <ActButton className="button grave" disabled={heirs.isLoading} onPress={leave}>
            {t.leave.title}
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}

/** Where not everybody is known, who is first is for the server to say. */
const firstOf = (heirs: Heirs | null): string =>
  (heirs?.areAll || heirs?.people[0]?.role !== 'member' ? heirs?.people[0]?.user_address : null) ?? ''

function Heir(props: { heirs: Heirs; chosen: string; onChoose: (account: string) => void }) {
  const { people, areAll } = props.heirs
  const { markOf } = useNamesakes(people.map(personOf))
  if (people.length === 0) return areAll ? <p className="banner">{t.leave.last}</p> : null
  return (
    <label className="field">
      <span>{t.leave.heir}</span>
      <select className="input" value={props.chosen} onChange={(event) => props.onChoose(event.target.value)}>
        {!areAll && <option value="">{t.leave.longest}</option>}
        {people.map((one) => {
          const mark = markOf(personOf(one))
          return (
            <option key={one.user_address} value={one.user_address}>
              {nameOf(one.name, one.user_address)}
              {mark && ` ${mark}`}
              {one.role !== 'member' && ` (${valueText(valueTexts.roles, one.role)})`}
            </option>
          )
        })}
      </select>
    </label>
  )
}
