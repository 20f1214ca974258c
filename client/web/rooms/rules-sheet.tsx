import type { RoomState } from '#client/sdk/types'
import type { Rules } from '#shared/api/moderation/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, lengthOf } from '../kit/format.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import styles from './rooms.module.css'
import { contentRules } from './rule-names.ts'

const levels = { everyone: t.rules.everyone, mods_only: t.rules.moderators, disabled: t.rules.nobody } as const

export const rulesTitle = (room: string | undefined): string =>
  room === undefined ? t.rules.ofThis : t.rules.of({ room: isolated(room) })

/** A dialog with the rules of a room: the moderators' text and the settings. */
export function RulesSheet({ state, onClose }: { state: RoomState; onClose: () => void }) {
  return (
    <Dialog title={rulesTitle(state.room?.name)} onClose={onClose}>
      <div className="stack wide">
        <RulesText rules={state.rules} />
        <div className="row">
          <p className="grow hint numerals">{t.rules.version({ number: state.rulesVersion })}</p>
          <button type="button" className="button main" onClick={onClose}>
            {t.rules.accept}
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
      {!rules.rules_text && !isShort && <p className="hint">{t.rules.none}</p>}
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
  {
    name: t.rules.writers,
    value: rules.read_only ? t.rules.moderators : t.rules.everyone,
    isStrict: rules.read_only,
  },
  {
    name: t.rules.slowMode,
    value: rules.slow_mode_seconds ? t.rules.slowModeOn({ time: lengthOf(rules.slow_mode_seconds) }) : t.rules.off,
    isStrict: rules.slow_mode_seconds > 0,
  },
  {
    name: t.age.rule,
    value: rules.message_ttl ? t.age.after({ time: lengthOf(rules.message_ttl) }) : t.age.never,
    isStrict: rules.message_ttl > 0,
  },
  {
    name: t.rules.longest,
    value: rules.max_message_length ? t.rules.characters({ count: rules.max_message_length }) : t.rules.noLimit,
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
