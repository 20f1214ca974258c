import type { RoomState } from '#client/sdk/types'
import { Dialog } from '../kit/dialog.tsx'
import { lengthOf } from '../kit/format.ts'
import { contentRules } from './rule-names.ts'

const levels = { everyone: 'Everyone', mods_only: 'Moderators only', disabled: 'Nobody' } as const

/** The rules of a room, in the words of its moderators and as the server keeps them. */
export function RulesSheet({ state, onClose }: { state: RoomState; onClose: () => void }) {
  const { rules } = state
  return (
    <Dialog title={`Rules of ${state.room?.name ?? 'this room'}`} onClose={onClose}>
      <div className="stack wide">
        {rules.rules_text ? (
          <p className="rules-text">{rules.rules_text}</p>
        ) : (
          <p className="hint">The moderators have not written rules of their own here. Be kind.</p>
        )}
        <dl className="rules">
          <Rule name="Who may write" value={rules.read_only ? 'Moderators only' : 'Everyone'} />
          <Rule
            name="Slow mode"
            value={rules.slow_mode_seconds ? `One message in ${lengthOf(rules.slow_mode_seconds)}` : 'Off'}
          />
          <Rule
            name="Longest message"
            value={rules.max_message_length ? `${rules.max_message_length.toLocaleString()} characters` : 'No limit'}
          />
          {contentRules.map(({ key, title }) => (
            <Rule key={key} name={title} value={levels[rules[key]]} />
          ))}
        </dl>
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

function Rule({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
