import { useState } from 'react'
import type { LiveRoom } from '#client/sdk/types'
import { roomKey } from '#shared/kit/room-key'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { nameOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'
import { rightsOf } from '../rooms/rights.ts'
import { useRoom } from '../rooms/use-room.ts'
import { type Act, chatOf, lengths, reasons, useAct } from './acts.ts'
import { ConfirmButton } from './confirm-button.tsx'

/** The acts a moderator may take against a person, in the room from which the card was opened. */
export function PersonModeration(props: { person: PersonOfInterest; live: LiveRoom; onDone: () => void }) {
  const { person, live } = props
  const client = useClient()
  const tell = useTell()
  const doAct = useAct()
  const rights = rightsOf(useRoom(live).me)
  const [duration, setDuration] = useState<string>('1h')
  const [reason, setReason] = useState('')
  const isBanned = useLoaded(`${roomKey(live.ref)} ${person.id}`, async () => {
    if (!rights.canMute) return false
    const answer = await client.moderation.bans({ ...chatOf(live.ref), action: 'check', userAddress: person.id })
    return 'isBanned' in answer && answer.isBanned
  }).value
  if (!rights.isModerator || !kindOf(live.ref).hasModerators) return null

  const name = nameOf(person.name, person.id)
  const act = async (action: Act['action'], done: string, more: Partial<Act> = {}) => {
    const acted = await doAct({ room: live.ref, action, target: person.id, reason: reason || null, ...more }, done)
    if (acted) props.onDone()
  }
  const kick = async () => {
    await client.rooms.kick({ room: live.ref, address: person.id, ...(reason ? { reason } : {}) })
    tell(`${name} was taken out of the room.`)
    props.onDone()
  }
  const isModerator = person.role !== null && person.role !== 'member'

  return (
    <section className="stack moderate" aria-label="Moderate">
      <h3 className="label">Moderate</h3>
      <Chips
        label="How long"
        options={lengths.map(({ duration: key, title }) => ({ key, title }))}
        chosen={duration}
        onChoose={setDuration}
      />
      <Chips
        label="Reason"
        options={reasons.map((key) => ({ key, title: key }))}
        chosen={reason}
        onChoose={(key) => setReason(key === reason ? '' : key)}
      />
      <div className="row wrap">
        {rights.canMute && (
          <>
            <ActButton className="button small" onPress={() => act('mute', `${name} muted`, { duration })}>
              Mute
            </ActButton>
            <ActButton className="button small" onPress={() => act('unmute', `${name} unmuted`)}>
              Unmute
            </ActButton>
            <ActButton className="button small" onPress={() => act('warn', `${name} warned`)}>
              Warn
            </ActButton>
            <ActButton className="button small" onPress={kick}>
              Kick
            </ActButton>
            {isBanned ? (
              <ActButton className="button small" onPress={() => act('unban', `Ban of ${name} lifted`)}>
                Lift the ban
              </ActButton>
            ) : (
              <ConfirmButton title="Ban" onConfirm={() => act('ban', `${name} banned`, { duration })} />
            )}
            <ConfirmButton title="Purge messages" onConfirm={() => act('purge', `Messages of ${name} purged`)} />
          </>
        )}
        {rights.canManage && !isModerator && (
          <ActButton
            className="button small"
            onPress={() =>
              act('promote', `${name} is a moderator now`, { patch: { canPin: true, canDelete: true, canMute: true } })
            }
          >
            Make moderator
          </ActButton>
        )}
        {rights.canManage && isModerator && (
          <ActButton className="button small" onPress={() => act('demote', `${name} is a member again`)}>
            Take moderator role
          </ActButton>
        )}
      </div>
    </section>
  )
}

function Chips(props: {
  label: string
  options: readonly { key: string; title: string }[]
  chosen: string
  onChoose: (key: string) => void
}) {
  return (
    <fieldset className="row wrap">
      <legend className="unseen">{props.label}</legend>
      {props.options.map(({ key, title }) => (
        <button
          key={key}
          type="button"
          className="chip"
          aria-pressed={key === props.chosen}
          onClick={() => props.onChoose(key)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}
