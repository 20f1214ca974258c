import type { RoomState } from '#client/sdk/types'
import { messageTtlSeconds, type Rules } from '#shared/api/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { lengthOf } from '../kit/format.ts'
import { useAct } from '../moderation/acts.ts'
import { useOpenRoom } from './room-context.ts'

type Age = Rules['message_ttl']

/** The field with the age at which messages of a room are removed. */
export function AgeField(props: { className: string | undefined; value: Age; onChange: (age: Age) => void }) {
  return (
    <label className={props.className}>
      <span className="grow">Remove messages</span>
      <select
        className="input slim"
        value={props.value}
        onChange={(event) => props.onChange(messageTtlSeconds.find((age) => age === Number(event.target.value)) ?? 0)}
      >
        {messageTtlSeconds.map((age) => (
          <option key={age} value={age}>
            {age === 0 ? 'Never' : `After ${lengthOf(age)}`}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The same in a direct conversation, where either person may change it. */
export function MessageAgeDialog({ state, onClose }: { state: RoomState; onClose: () => void }) {
  const { live } = useOpenRoom()
  const act = useAct()
  const set = (message_ttl: Age) =>
    void act({ room: live.ref, action: 'rules', patch: { rules: { message_ttl } } }, 'Removal of messages changed')
  return (
    <Dialog title="Removal of messages" onClose={onClose}>
      <div className="stack">
        <AgeField className="field" value={state.rules.message_ttl} onChange={set} />
        <p className="hint">This holds for both people and for earlier messages. Pinned messages stay.</p>
      </div>
    </Dialog>
  )
}
