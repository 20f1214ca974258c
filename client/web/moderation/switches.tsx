import type { RoomState } from '#client/sdk/types'
import { type RulesPatch, slowModeSeconds } from '#shared/api/moderation/verdict'
import { lengthOf } from '../kit/format.ts'
import { kindOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { useAct } from './acts.ts'
import styles from './switches.module.css'

/** Switches for the rules that moderators change most often in an emergency. */
export function Switches({ state }: { state: RoomState }) {
  const { live } = useOpenRoom()
  const act = useAct()
  const { rules } = state
  const set = (patch: Partial<RulesPatch>, done: string) =>
    act({ room: live.ref, action: 'rules', patch: { rules: patch } }, done)
  const areLinksOn = rules.links_allowed === 'everyone'

  return (
    <fieldset className={styles.switches} aria-label={t.switches.title}>
      <label className={styles.switch}>
        <span>{t.switches.slowMode}</span>
        <select
          className="input"
          value={rules.slow_mode_seconds}
          onChange={(event) => {
            const seconds = slowModeSeconds.find((choice) => choice === Number(event.target.value)) ?? 0
            set(
              { slow_mode_seconds: seconds },
              seconds ? t.switches.slowModeOn({ time: lengthOf(seconds) }) : t.switches.slowModeOff,
            )
          }}
        >
          {slowModeSeconds.map((seconds) => (
            <option key={seconds} value={seconds}>
              {seconds === 0 ? t.switches.off : lengthOf(seconds)}
            </option>
          ))}
        </select>
      </label>
      <Toggle
        title={t.switches.readOnly}
        isOn={rules.read_only}
        isFixed={kindOf(live.ref).writers === 'moderators'}
        onToggle={() =>
          set({ read_only: !rules.read_only }, rules.read_only ? t.switches.readOnlyOff : t.switches.readOnly)
        }
      />
      <Toggle
        title={t.switches.links}
        isOn={areLinksOn}
        onToggle={() =>
          set(
            { links_allowed: areLinksOn ? 'disabled' : 'everyone' },
            areLinksOn ? t.switches.linksOff : t.switches.linksOn,
          )
        }
      />
    </fieldset>
  )
}

function Toggle(props: { title: string; isOn: boolean; isFixed?: boolean; onToggle: () => void }) {
  const { title, isOn, isFixed = false, onToggle } = props
  return (
    <button
      type="button"
      className={styles.switch}
      role="switch"
      aria-checked={isOn}
      disabled={isFixed}
      onClick={onToggle}
    >
      <span>{title}</span>
      <i aria-hidden="true" />
    </button>
  )
}
