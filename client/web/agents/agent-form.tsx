import type { ReactNode } from 'react'
import { useSession } from '../accounts/session.ts'
import { useFocused } from '../kit/focus.ts'
import { type AgentFields, lengthOf, longest, problemsOf } from './agent-fields.ts'
import styles from './agent-form.module.css'
import { visibilityTitles } from './agent-words.ts'

interface FormProps {
  fields: AgentFields
  onChange: (fields: AgentFields) => void
  onSubmit: () => void
  isNew?: boolean
  /** What this server can do for it; of an agent that is new, that is not known. */
  can?: Record<'searchWeb' | 'tellEvents', boolean>
  children: ReactNode
}

const switches = [
  ['useKnowledgeBase', 'Use what it knows', 'It looks things up in its knowledge, and names the source.'],
  ['webSearchEnabled', 'Search the web', 'It looks things up on the web, and names the pages.'],
  ['schedulingEnabled', 'Offer my free times', 'Those of your Settings, never what keeps you busy.'],
  ['eventsAccess', 'Know its events', 'It tells of the events that were found for it.'],
] as const

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
      aria-label="Agent"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div className={`row ${styles.agentName}`}>
        <label className="field">
          <span>Emoji</span>
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
          <span>Name</span>
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
          <p className="hint numerals">
            {lengthOf(fields, 'name')} / {longest.name} characters
          </p>
        )
      )}
      <label className="field">
        <span>Personality</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          aria-invalid={wrong.personality !== undefined}
          value={fields.personality}
          onChange={({ target }) => set({ personality: target.value })}
        />
        <FieldHint wrong={wrong.personality}>
          Who it is and how it speaks, in up to 1,000 characters. Everybody who may ask it can read this.
        </FieldHint>
      </label>
      {!isNew && (
        <label className="field">
          <span>Instructions</span>
          <textarea
            dir="auto"
            className="input"
            rows={6}
            aria-invalid={wrong.systemInstructions !== undefined}
            value={fields.systemInstructions}
            onChange={({ target }) => set({ systemInstructions: target.value })}
          />
          <FieldHint wrong={wrong.systemInstructions}>
            What it is told before each question, in up to 4,000 characters. Only you can read this.
          </FieldHint>
        </label>
      )}
      <label className="field">
        <span>Who may ask it</span>
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
        {fields.visibility === 'public' && (
          <small>Questions to begin with are suggested from its personality and tags.</small>
        )}
      </label>
      {fields.visibility === 'official' && (
        <label className="field">
          <span>Suggested questions</span>
          <textarea
            dir="auto"
            className="input"
            rows={3}
            value={fields.questions}
            aria-invalid={wrong.questions !== undefined}
            onChange={({ target }) => set({ questions: target.value })}
          />
          <FieldHint wrong={wrong.questions}>Up to four, one in each line, of 100 characters each.</FieldHint>
        </label>
      )}
      <label className="field">
        <span>Tags</span>
        <input
          dir="auto"
          className="input"
          value={fields.tags}
          aria-invalid={wrong.tags !== undefined}
          onChange={({ target }) => set({ tags: target.value })}
        />
        <FieldHint wrong={wrong.tags}>
          Up to five of 20 characters, with commas between them. Others find it by these.
        </FieldHint>
      </label>
      <fieldset className={styles.agentSwitches}>
        <legend className="label">What it may do</legend>
        {switches
          .filter(([name]) => isOffered[name])
          .map(([name, title, hint]) => (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={fields[name]}
                onChange={({ target }) => set({ [name]: target.checked })}
              />
              <span>
                {title}
                <small>{hint}</small>
              </span>
            </label>
          ))}
      </fieldset>
      {children}
    </form>
  )
}

/** Brings the first field that cannot be sent into view. */
export const focusWrong = (): void =>
  document.querySelector<HTMLElement>(`.${styles.agentForm} [aria-invalid="true"]`)?.focus()

/** What a field is for; where its text cannot be sent, why. */
function FieldHint({ wrong, children }: { wrong: string | undefined; children: ReactNode }) {
  return wrong === undefined ? <small>{children}</small> : <small className="grave">{wrong}</small>
}
