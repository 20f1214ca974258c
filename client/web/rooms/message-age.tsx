import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { messageTtlSeconds, type Rules } from '#shared/api/moderation/verdict'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { lengthOf } from '../kit/format.ts'
import { useAct } from '../moderation/acts.ts'
import { roomTexts } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'

const t = roomTexts.age

type Age = Rules['message_ttl']

/** The field with the age at which messages of a room are removed. */
export function AgeField(props: { className: string | undefined; value: Age; onChange: (age: Age) => void }) {
  return (
    <label className={props.className}>
      <span className="grow">{t.field}</span>
      <select
        className="input small"
        value={props.value}
        onChange={(event) => props.onChange(messageTtlSeconds.find((age) => age === Number(event.target.value)) ?? 0)}
      >
        {messageTtlSeconds.map((age) => (
          <option key={age} value={age}>
            {age === 0 ? t.never : t.after({ time: lengthOf(age) })}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The same in a direct conversation, where either person may change it, for messages of both. */
export function MessageAgeDialog({ state, onClose }: { state: RoomState; onClose: () => void }) {
  const { live } = useOpenRoom()
  const act = useAct()
  const known = state.rules.message_ttl
  const [age, setAge] = useState<Age>(known)
  const save = async () => {
    if (await act({ room: live.ref, action: 'rules', patch: { rules: { message_ttl: age } } }, t.changed)) onClose()
  }
  return (
    <Dialog title={t.title} onClose={onClose}>
      <div className="stack">
        <AgeField className="field" value={age} onChange={setAge} />
        <p className="hint">{t.hint}</p>
        <div className="row end">
          <ActButton className={age === 0 ? 'button main' : 'button risky'} disabled={age === known} onPress={save}>
            {roomTexts.topic.save}
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}
