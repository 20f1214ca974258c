import { type ReactNode, useState } from 'react'
import type { LiveRoom } from '#client/sdk/types'
import { isAgent } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { useFocused } from '../kit/focus.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'
import { rightsOf } from '../rooms/rights.ts'
import { useRoom } from '../rooms/use-rooms.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import styles from './act-form.module.css'
import { type Act, chatOf, lengths, useAct } from './acts.ts'
import { type PersonAct, personActs, usePersonAct } from './person-acts.ts'
import personModerationStyles from './person-moderation.module.css'

const longestReason = 500

/** Asks for how long and why, and acts on a person at the press of one of its buttons. */
export function ActForm(props: {
  acts: readonly PersonAct[]
  person: Pick<PersonOfInterest, 'id' | 'name' | 'messageId'>
  live: LiveRoom
  /** How long an act holds where nothing else is chosen. */
  duration?: string | undefined
  onDone: () => void
  /** Other buttons beside those of the acts that are not grave. */
  children?: ReactNode
}) {
  const { acts, person, live, onDone } = props
  const [duration, setDuration] = useState(props.duration ?? '1h')
  const [reason, setReason] = useState('')
  const act = usePersonAct(live)
  const run = async (kind: PersonAct) => {
    if (await act(kind, person, { duration, reason })) onDone()
  }
  const mild = acts.filter((kind) => personActs[kind].question === null)
  const [only] = acts.length === 1 ? acts : []

  return (
    <>
      {acts.some((kind) => personActs[kind].hasLength) && (
        <Chips
          label={t.form.duration}
          options={lengths.map((key) => ({ key, title: t.lengths[key] }))}
          chosen={duration}
          onChoose={setDuration}
        />
      )}
      {acts.length > 0 && <Why reason={reason} onChange={setReason} />}
      {only ? (
        <OnlyButton kind={only} onPress={() => run(only)} />
      ) : (
        <>
          <div className="row wrap">
            {mild.map((kind) => (
              <ActButton key={kind} className="button small" onPress={() => run(kind)}>
                {personActs[kind].title}
              </ActButton>
            ))}
            {props.children}
          </div>
          {mild.length < acts.length && (
            <div className={`row wrap ${styles.apart}`}>
              {acts.map((kind) => {
                const { title, question } = personActs[kind]
                if (question === null) return null
                return <ConfirmButton key={kind} title={title} question={question} onConfirm={() => run(kind)} />
              })}
            </div>
          )}
        </>
      )}
    </>
  )
}

function Why({ reason, onChange }: { reason: string; onChange: (reason: string) => void }) {
  return (
    <>
      <Chips
        label={t.form.why}
        options={Object.values(t.reasons).map((title) => ({ key: title, title }))}
        chosen={reason}
        onChoose={(key) => onChange(key === reason ? '' : key)}
      />
      <input
        dir="auto"
        className="input"
        aria-label={t.form.reason}
        placeholder={t.form.reasonHint}
        maxLength={longestReason}
        value={reason}
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  )
}

/** Has the focus, so that Enter acts, unless the act is grave. */
function OnlyButton({ kind, onPress }: { kind: PersonAct; onPress: () => Promise<void> }) {
  const { title, question } = personActs[kind]
  const isGrave = question !== null
  const button = useFocused<HTMLButtonElement>()
  return (
    <div className="row end">
      <ActButton ref={isGrave ? null : button} className={`button ${isGrave ? 'grave' : 'main'}`} onPress={onPress}>
        {title}
      </ActButton>
    </div>
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
      <legend className="label">{props.label}</legend>
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

const order: readonly PersonAct[] = ['mute', 'warn', 'kick', 'purge', 'ban']

/** The acts a moderator may take against a person, in the room from which the card was opened. */
export function PersonModeration(props: { person: PersonOfInterest; live: LiveRoom; onDone: () => void }) {
  const { person, live } = props
  const client = useClient()
  const doAct = useAct()
  const tell = useTell()
  const { me, room } = useRoom(live)
  const rights = rightsOf(me)
  const isMuted = useLoaded(`muted ${roomKey(live.ref)} ${person.id}`, async () => {
    if (!rights.canMute) return false
    const { chatType, chatId: channelId } = chatOf(live.ref)
    const asked = { chatType, channelId, userAddress: person.id } as const
    const answer = await client.moderation.inspect({ action: 'check-muted', ...asked })
    return 'isMuted' in answer && answer.isMuted
  }).value
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

  const title = room ? t.moderateIn({ room: isolated(room.name) }) : t.moderate
  return (
    <section className={`stack ${personModerationStyles.moderate}`} aria-label={title}>
      <h3 className="label">{title}</h3>
      <ActForm acts={acts} person={person} live={live} onDone={props.onDone}>
        {rights.canMute && isMuted && (
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
