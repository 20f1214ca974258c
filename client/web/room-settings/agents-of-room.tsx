import { useState } from 'react'
import { linkTo } from '#shared/kit/pages'
import { roomKey } from '#shared/kit/room-key'
import { agentPlaces } from '#shared/kit/room-kinds'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { isolated } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { roomSettingTexts } from '../texts/room-settings.ts'

const t = roomSettingTexts.agents

/** The agents that answer in a room. Admins of the installation add official ones, and remove them. */
export function AgentsOfRoom() {
  const client = useClient()
  const { live } = useOpenRoom()
  const isAdmin = useSession().user.role !== 'user'
  const { id } = live.ref
  const channelType = agentPlaces.find((one) => one === kindOf(live.ref).agentPlace)
  const agents = useLoaded(roomKey(live.ref), async () => (await client.agents.inRoom({ id: id ?? 'global' })).agents)
  const official = useLoaded(`official ${isAdmin}`, async () => {
    if (!isAdmin) return []
    const found = await client.agents.list({ includeOfficial: true })
    return found.agents.filter(({ visibility }) => visibility === 'official')
  })
  const [chosen, setChosen] = useState('')
  const others = official.value?.filter((one) => !agents.value?.some((here) => here.id === one.id)) ?? []
  const isOffered = others.some((one) => one.id === chosen)
  if (channelType === undefined) return null
  const add = async () => {
    await client.agents.joinRoom({ id: chosen, channelType, channelId: id })
    setChosen('')
    agents.reload()
  }
  const remove = async (agent: string) => {
    await client.agents.leaveRoom({ id: agent, channelType, channelId: id })
    agents.reload()
  }
  return (
    <>
      {others.length > 0 && (
        <MakeForm label={t.form} action={t.add} onMake={add}>
          <select
            className="input"
            aria-label={t.official}
            required
            value={isOffered ? chosen : ''}
            onChange={({ target }) => setChosen(target.value)}
          >
            <option value="">{t.choose}</option>
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {isolated(one.name)}
              </option>
            ))}
          </select>
        </MakeForm>
      )}
      <Listed
        loaded={agents}
        empty={
          <Blank icon="agent" title={t.empty}>
            <p>{t.emptyHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul className="quiet-list" aria-label={t.list}>
            {all.map((agent) => (
              <li key={agent.id} className="row wrap">
                <span className="grow">
                  <strong>
                    {agent.avatar_emoji} {isolated(agent.name)}
                  </strong>
                  {agent.personality && <small dir="auto">{agent.personality}</small>}
                </span>
                <a className="button small" href={linkTo('agentChat', { agent: agent.id })}>
                  {t.open}
                </a>
                {isAdmin && (
                  <ConfirmButton
                    title={t.remove}
                    question={confirmationTexts.agentOfRoom}
                    of={agent.name}
                    onConfirm={() => remove(agent.id)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}
