import { type FormEvent, useRef, useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'

const mostOptions = 10

export function PollForm({ onSent, onClose }: { onSent: () => void; onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [question, setQuestion] = useState('')
  const [options, setOptions] = useState<readonly { key: number; text: string }[]>([
    { key: 0, text: '' },
    { key: 1, text: '' },
  ])
  const [allowsMultiple, setMultiple] = useState(false)
  const [isAnonymous, setAnonymous] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const added = useRef<number | null>(null)
  const given = options.map(({ text }) => text.trim()).filter(Boolean)
  const isRepeated = new Set(given).size < given.length

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isRepeated) return setError(new Error(t.poll.repeated))
    try {
      await client.polls.create({
        room: live.ref,
        question: question.trim(),
        options: given,
        allowsMultiple,
        isAnonymous,
      })
      onSent()
      onClose()
    } catch (cause) {
      setError(cause)
    }
  }

  return (
    <Dialog title={t.poll.create} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{t.poll.question}</span>
          <input
            dir="auto"
            className="input"
            required
            maxLength={500}
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        </label>
        <fieldset className="stack">
          <legend className="label">{t.poll.answers}</legend>
          {options.map(({ key, text }, at) => (
            <input
              dir="auto"
              key={key}
              ref={(element) => {
                if (added.current === key) element?.focus()
                if (element && added.current === key) added.current = null
              }}
              className="input"
              maxLength={200}
              aria-label={t.poll.answer({ number: at + 1 })}
              value={text}
              onChange={(event) =>
                setOptions(options.map((option) => (option.key === key ? { key, text: event.target.value } : option)))
              }
            />
          ))}
          {options.length < mostOptions && (
            <div>
              <button
                type="button"
                className="button small plain"
                onClick={() => {
                  added.current = options.length
                  setOptions([...options, { key: options.length, text: '' }])
                }}
              >
                <Icon name="plus" />
                {t.poll.add}
              </button>
            </div>
          )}
        </fieldset>
        <label className="check">
          <input type="checkbox" checked={allowsMultiple} onChange={(event) => setMultiple(event.target.checked)} />
          {t.poll.allowMultiple}
        </label>
        <label className="check">
          <input type="checkbox" checked={isAnonymous} onChange={(event) => setAnonymous(event.target.checked)} />
          {t.poll.hideVoters}
        </label>
        <Problem error={error} />
        <div className="row end">
          <button type="submit" className="button main" disabled={!question.trim() || given.length < 2}>
            {t.poll.create}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
