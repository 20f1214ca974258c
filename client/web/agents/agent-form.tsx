import type { ReactNode } from 'react'
import { useSession } from '../accounts/session.ts'
import { useFocused } from '../kit/focus.ts'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import { locale } from '../texts/language.ts'
import { type AgentFields, lengthOf, longest, problemsOf } from './agent-fields.ts'
import styles from './agent-form.module.css'
import { visibilityTitles } from './agent-words.ts'

interface FormProps {
  fields: AgentFields
  onChange: (fields: AgentFields) => void
  onSubmit: () => void
  isNew?: boolean
  /** What this server can do for it; of an agent that is new, that is not known. */
  can?: Record<'searchWeb' | 'tellEvents', boolean> & { models: readonly string[] }
  children: ReactNode
}

const switches = ['useKnowledgeBase', 'webSearchEnabled', 'schedulingEnabled', 'eventsAccess'] as const

/** The fields of an agent. */
export function AgentForm({ fields, onChange, onSubmit, isNew, can, children }: FormProps) {
  const { user } = useSession()
  const set = (more: Partial<AgentFields>) => onChange({ ...fields, ...more })
  const visibilities = (['private', 'friends', 'public', 'official'] as const).filter(
    (name) => name !== 'official' || user.role === 'admin' || fields.visibility === 'official',
  )
  const isOffered = {
    useKnowledgeBase: true,
    webSearchEnabled: can?.searchWeb,
    schedulingEnabled: true,
    // Only operators find events, for official agents.
    eventsAccess: can?.tellEvents || fields.visibility === 'official',
  }
  const first = useFocused<HTMLInputElement>()
  const wrong = problemsOf(fields)
  /** A field that nobody has written in yet is not wrong before it is sent. */
  const wrongName = isNew && fields.name === '' ? undefined : wrong.name

  return (
    <form
      className={`${styles.agentForm} stack`}
      aria-label={t.form.title}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div className={`row ${styles.agentName}`}>
        <label className="field">
          <span>{t.form.emoji}</span>
          <input
            dir="auto"
            className="input"
            value={fields.avatarEmoji}
            aria-invalid={wrong.avatarEmoji !== undefined}
            onChange={({ target }) => set({ avatarEmoji: target.value })}
            required
          />
        </label>
        <label className="field grow">
          <span>{t.form.name}</span>
          <input
            dir="auto"
            className="input"
            ref={isNew ? first : null}
            value={fields.name}
            aria-invalid={wrongName !== undefined}
            onChange={({ target }) => set({ name: target.value })}
            required
          />
        </label>
      </div>
      {wrong.avatarEmoji && <p className="hint grave">{wrong.avatarEmoji}</p>}
      {wrongName ? (
        <p className="hint grave" role="alert">
          {wrongName}
        </p>
      ) : (
        lengthOf(fields, 'name') > longest.name - 20 && (
          <p className="hint numerals">{t.form.count({ count: lengthOf(fields, 'name'), most: longest.name })}</p>
        )
      )}
      <label className="field">
        <span>{t.form.personality}</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          aria-invalid={wrong.personality !== undefined}
          value={fields.personality}
          onChange={({ target }) => set({ personality: target.value })}
        />
        <FieldHint wrong={wrong.personality}>
          {t.form.personalityHint({ most: longest.personality.toLocaleString(locale) })}
        </FieldHint>
      </label>
      {!isNew && (
        <label className="field">
          <span>{t.form.instructions}</span>
          <textarea
            dir="auto"
            className="input"
            rows={6}
            aria-invalid={wrong.systemInstructions !== undefined}
            value={fields.systemInstructions}
            onChange={({ target }) => set({ systemInstructions: target.value })}
          />
          <FieldHint wrong={wrong.systemInstructions}>
            {t.form.instructionsHint({ most: longest.systemInstructions.toLocaleString(locale) })}
          </FieldHint>
        </label>
      )}
      <label className="field">
        <span>{t.form.who}</span>
        <select
          className="input"
          value={fields.visibility}
          onChange={({ target }) => set({ visibility: target.value as AgentFields['visibility'] })}
        >
          {visibilities.map((name) => (
            <option key={name} value={name}>
              {visibilityTitles[name]}
            </option>
          ))}
        </select>
      </label>
      {!isNew && (
        <label className="field">
          <span>{t.form.greeting}</span>
          <textarea
            dir="auto"
            className="input"
            rows={2}
            value={fields.greeting}
            aria-invalid={wrong.greeting !== undefined}
            onChange={({ target }) => set({ greeting: target.value })}
          />
          <FieldHint wrong={wrong.greeting}>
            {t.form.greetingHint({ most: longest.greeting.toLocaleString(locale) })}
          </FieldHint>
        </label>
      )}
      {!isNew && (
        <label className="field">
          <span>{t.form.questions}</span>
          <textarea
            dir="auto"
            className="input"
            rows={3}
            value={fields.questions}
            aria-invalid={wrong.questions !== undefined}
            onChange={({ target }) => set({ questions: target.value })}
          />
          <FieldHint wrong={wrong.questions}>
            {t.form.questionsHint} {fields.visibility === 'public' && t.form.publicHint}
          </FieldHint>
        </label>
      )}
      <label className="field">
        <span>{t.form.tags}</span>
        <input
          dir="auto"
          className="input"
          value={fields.tags}
          aria-invalid={wrong.tags !== undefined}
          onChange={({ target }) => set({ tags: target.value })}
        />
        <FieldHint wrong={wrong.tags}>{t.form.tagsHint}</FieldHint>
      </label>
      {can && <AnswerFields fields={fields} models={can.models} onChange={set} />}
      <fieldset className={styles.agentSwitches}>
        <legend className="label">{t.form.permissions}</legend>
        {switches
          .filter((name) => isOffered[name])
          .map((name) => (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={fields[name]}
                onChange={({ target }) => set({ [name]: target.checked })}
              />
              <span>
                {t.switches[name]}
                <small>{t.switchHints[name]}</small>
              </span>
            </label>
          ))}
      </fieldset>
      {children}
    </form>
  )
}

const mostTemperature = 2
const usualTemperature = '0.7'

/** Which model answers, if there are several, and how freely. */
function AnswerFields(props: {
  fields: AgentFields
  models: readonly string[]
  onChange: (more: Partial<AgentFields>) => void
}) {
  const { fields, models, onChange } = props
  const isOwn = fields.temperature !== ''
  return (
    <div className="stack">
      {models.length > 1 && (
        <label className="field">
          <span>{t.form.model}</span>
          <select className="input" value={fields.model} onChange={({ target }) => onChange({ model: target.value })}>
            {models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={isOwn}
          onChange={({ target }) => onChange({ temperature: target.checked ? usualTemperature : '' })}
        />
        <span>
          {t.form.ownTemperature}
          <small>{t.form.temperatureHint}</small>
        </span>
      </label>
      {isOwn && (
        <label className="field">
          <span>{t.form.temperature({ value: Number(fields.temperature).toLocaleString(locale) })}</span>
          <input
            type="range"
            min={0}
            max={mostTemperature}
            step={0.1}
            value={fields.temperature}
            onChange={({ target }) => onChange({ temperature: target.value })}
          />
        </label>
      )}
    </div>
  )
}

/** Brings the first field that cannot be sent into view. */
export const focusWrong = (): void =>
  document.querySelector<HTMLElement>(`.${styles.agentForm} [aria-invalid="true"]`)?.focus()

/** What a field is for; where its text cannot be sent, why. */
function FieldHint({ wrong, children }: { wrong: string | undefined; children: ReactNode }) {
  return wrong === undefined ? <small>{children}</small> : <small className="grave">{wrong}</small>
}
