import { type ReactNode, useState } from 'react'
import type { LiveRoom } from '#client/sdk/types'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { useFocused } from '../kit/focus.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import styles from './act-form.module.css'
import { lengths } from './acts.ts'
import { type PersonAct, personActs, usePersonAct } from './person-acts.ts'

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
