import type { RoomState } from '#client/sdk/types'
import type { Rules } from '#shared/api/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, lengthOf } from '../kit/format.ts'
import styles from './rooms.module.css'
import { contentRules } from './rule-names.ts'

const levels = { everyone: 'Everyone', mods_only: 'Moderators only', disabled: 'Nobody' } as const

/** A dialog with the rules of a room: the moderators' text and the settings. */
export function RulesSheet({ state, onClose }: { state: RoomState; onClose: () => void }) {
  return (
    <Dialog title={`Rules of ${isolated(state.room?.name ?? 'this room')}`} onClose={onClose}>
      <div className="stack wide">
        <RulesText rules={state.rules} />
        <div className="row">
          <p className="grow hint numerals">Version {state.rulesVersion}</p>
          <button type="button" className="button main" onClick={onClose}>
            All right
          </button>
        </div>
      </div>
    </Dialog>
  )
}

/** The moderators' text, then every setting; the short form shows only the settings that restrict members. */
export function RulesText({ rules, isShort = false }: { rules: Rules; isShort?: boolean }) {
  const shown = settingsOf(rules).filter(({ isStrict }) => isStrict || !isShort)
  return (
    <>
      {rules.rules_text && (
        <p className={styles.rulesText} dir="auto">
          {rules.rules_text}
        </p>
      )}
      {!rules.rules_text && !isShort && (
        <p className="hint">The moderators have not written rules of their own here. Be kind.</p>
      )}
      {shown.length > 0 && (
        <dl className={styles.rules}>
          {shown.map(({ name, value }) => (
            <Rule key={name} name={name} value={value} />
          ))}
        </dl>
      )}
    </>
  )
}

const settingsOf = (rules: Rules) => [
  { name: 'Who may write', value: rules.read_only ? 'Moderators only' : 'Everyone', isStrict: rules.read_only },
  {
    name: 'Slow mode',
    value: rules.slow_mode_seconds ? `One message in ${lengthOf(rules.slow_mode_seconds)}` : 'Off',
    isStrict: rules.slow_mode_seconds > 0,
  },
  {
    name: 'Messages are removed',
    value: rules.message_ttl ? `After ${lengthOf(rules.message_ttl)}` : 'Never',
    isStrict: rules.message_ttl > 0,
  },
  {
    name: 'Longest message',
    value: rules.max_message_length ? `${rules.max_message_length.toLocaleString()} characters` : 'No limit',
    isStrict: false,
  },
  ...contentRules.map(({ key, title }) => ({
    name: title,
    value: levels[rules[key]],
    isStrict: rules[key] !== 'everyone',
  })),
]

function Rule({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
