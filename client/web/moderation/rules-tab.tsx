import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { PermissionLevel, ReadAccess, type Rules, slowModeSeconds } from '#shared/api/moderation/verdict'
import { longestMessage } from '#shared/kit/lengths'
import { lengthOf } from '../kit/format.ts'
import { kindOf } from '../rooms/kind.ts'
import { AgeField } from '../rooms/message-age.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { contentRules } from '../rooms/rule-names.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { useAct } from './acts.ts'
import styles from './rules-tab.module.css'
import { DryRun } from './words-tab.tsx'

/** A form with every rule of the room; nothing changes before it is saved. */
export function RulesTab({ state }: { state: RoomState }) {
  const { live, rights } = useOpenRoom()
  const { longestMessage: longest, writers } = kindOf(live.ref)
  const act = useAct()
  const [draft, setDraft] = useState<Rules>(state.rules)
  const set = (change: Partial<Rules>) => setDraft({ ...draft, ...change })
  const patch = changesBetween(state.rules, draft)
  const isChanged = Object.keys(patch).length > 0

  return (
    <form
      className="stack rules-form"
      onSubmit={(event) => {
        event.preventDefault()
        act({ room: live.ref, action: 'rules', patch: { rules: patch } }, t.rules.saved)
      }}
    >
      <label className="field">
        <span>{t.rules.text}</span>
        <textarea
          dir="auto"
          className="input"
          rows={4}
          maxLength={10_000}
          value={draft.rules_text ?? ''}
          onChange={(event) => set({ rules_text: event.target.value || null })}
        />
      </label>
      {contentRules.map(({ key, title }) => (
        <label key={key} className={styles.ruleLine}>
          <span className="grow">{title}</span>
          <select
            className="input small"
            value={draft[key]}
            onChange={(event) => set({ [key]: PermissionLevel.parse(event.target.value) })}
          >
            {Object.entries(t.levels).map(([level, name]) => (
              <option key={level} value={level}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label className={styles.ruleLine}>
        <span className="grow">{t.rules.slowMode}</span>
        <select
          className="input small"
          value={draft.slow_mode_seconds}
          onChange={(event) =>
            set({ slow_mode_seconds: slowModeSeconds.find((choice) => choice === Number(event.target.value)) ?? 0 })
          }
        >
          {slowModeSeconds.map((seconds) => (
            <option key={seconds} value={seconds}>
              {seconds === 0 ? t.rules.off : lengthOf(seconds)}
            </option>
          ))}
        </select>
      </label>
      <label className={styles.ruleLine}>
        <span className="grow">{longest === null ? t.rules.length : t.rules.lengthUpTo({ count: longest })}</span>
        <input
          className="input small numerals"
          type="number"
          min={longest === null ? 0 : 1}
          max={longest ?? longestMessage}
          value={draft.max_message_length}
          onChange={(event) => set({ max_message_length: Number(event.target.value) || 0 })}
        />
      </label>
      <label className={styles.ruleLine}>
        <span className="grow">{t.rules.readers}</span>
        <select
          className="input small"
          value={draft.read_access}
          onChange={(event) => set({ read_access: ReadAccess.parse(event.target.value) })}
        >
          {Object.entries(t.readers).map(([access, name]) => (
            <option key={access} value={access}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {rights.isAdmin && (
        <AgeField
          className={styles.ruleLine}
          value={draft.message_ttl}
          onChange={(message_ttl) => set({ message_ttl })}
        />
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={draft.read_only}
          disabled={writers === 'moderators'}
          onChange={(event) => set({ read_only: event.target.checked })}
        />
        {t.rules.readOnly}
      </label>
      {isChanged && <DryRun proposal={{ rules: patch }} />}
      <div className="row end">
        <button
          type="button"
          className="button small plain"
          disabled={!isChanged}
          onClick={() => setDraft(state.rules)}
        >
          {t.rules.reset}
        </button>
        <button type="submit" className="button small main" disabled={!isChanged}>
          {t.rules.save}
        </button>
      </div>
    </form>
  )
}

function changesBetween(before: Rules, after: Rules): Partial<Rules> {
  const changed = Object.entries(after).filter(([key, value]) =>
    Object.entries(before).every(([name, old]) => name !== key || old !== value),
  )
  return Object.fromEntries(changed)
}
