import type { LiveRoom } from '#client/sdk/types'
import { isAgent } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { nameOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'
import { rightsOf } from '../rooms/rights.ts'
import { useRoom } from '../rooms/use-room.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { ActForm } from './act-form.tsx'
import { type Act, chatOf, useAct } from './acts.ts'
import type { PersonAct } from './person-acts.ts'
import styles from './person-moderation.module.css'

const order: readonly PersonAct[] = ['mute', 'warn', 'kick', 'purge', 'ban']

/** The acts a moderator may take against a person, in the room from which the card was opened. */
export function PersonModeration(props: { person: PersonOfInterest; live: LiveRoom; onDone: () => void }) {
  const { person, live } = props
  const client = useClient()
  const doAct = useAct()
  const tell = useTell()
  const { me } = useRoom(live)
  const rights = rightsOf(me)
  const isBanned = useLoaded(`${roomKey(live.ref)} ${person.id}`, async () => {
    if (!rights.canMute) return false
    const answer = await client.moderation.bans({ ...chatOf(live.ref), action: 'check', userAddress: person.id })
    return 'isBanned' in answer && answer.isBanned
  }).value
  if (!rights.isModerator || !kindOf(live.ref).hasModerators) return null

  const name = nameOf(person.name, person.id)
  const isModerator = person.role !== null && person.role !== 'member'
  const acts = order.filter((kind) => rights.canMute && !(kind === 'ban' && isBanned))
  const act = async (action: Act['action'], done: string, more: Partial<Act> = {}) => {
    const acted = await doAct({ room: live.ref, action, target: person.id, ...more }, done)
    if (acted) props.onDone()
  }

  const handOver = async () => {
    await client.rooms.handOver({ room: live.ref, address: person.id })
    tell(t.done.handOver({ name }))
    props.onDone()
  }

  return (
    <section className={`stack ${styles.moderate}`} aria-label={t.moderate}>
      <h3 className="label">{t.moderate}</h3>
      <ActForm acts={acts} person={person} live={live} onDone={props.onDone}>
        {rights.canMute && (
          <ActButton className="button small" onPress={() => act('unmute', t.done.unmute({ name }))}>
            {t.actions.unmute}
          </ActButton>
        )}
        {rights.canMute && isBanned && (
          <ActButton className="button small" onPress={() => act('unban', t.done.unban({ name }))}>
            {t.actions.unban}
          </ActButton>
        )}
        {rights.canManage && !isModerator && (
          <ActButton
            className="button small"
            onPress={() =>
              act('promote', t.done.promote({ name }), { patch: { canPin: true, canDelete: true, canMute: true } })
            }
          >
            {t.actions.promote}
          </ActButton>
        )}
        {me.role === kindOf(live.ref).runBy && person.role !== null && !isAgent(person.id) && (
          <ConfirmButton title={t.actions.handOver} question={confirmationTexts.handOver} onConfirm={handOver} />
        )}
        {rights.canManage && isModerator && (
          <ActButton className="button small" onPress={() => act('demote', t.done.demote({ name }))}>
            {t.actions.demote}
          </ActButton>
        )}
      </ActForm>
    </section>
  )
}
