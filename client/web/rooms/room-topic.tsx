import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { longestTopic } from '#shared/kit/lengths'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { isComposing } from '../kit/keys.ts'
import { Problem } from '../kit/notice.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'
import styles from './room-topic.module.css'
import roomsStyles from './rooms.module.css'

/** The topic of the room in one line; a press shows all of it. */
export function RoomTopic({ topic }: { topic: string | null }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      {topic !== null && (
        <button type="button" className={styles.roomTopic} title={topic} onClick={() => setOpen(true)}>
          <span className="unseen">{t.topic.before} </span>
          <span className={styles.line} dir="auto">
            {topic}
          </span>
        </button>
      )}
      {isOpen && <TopicDialog topic={topic} onClose={() => setOpen(false)} />}
    </>
  )
}

export function TopicDialog({ topic, onClose }: { topic: string | null; onClose: () => void }) {
  const { rights } = useOpenRoom()
  return (
    <Dialog title={t.topic.title} onClose={onClose}>
      {rights.canSetTopic ? (
        <TopicForm topic={topic} onSaved={onClose} onCancel={onClose} />
      ) : (
        <div className="stack">
          <p className={roomsStyles.rulesText} dir="auto">
            {topic}
          </p>
          <div className="row end">
            <button type="button" className="button main" onClick={onClose}>
              {t.topic.close}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

interface TopicFormProps {
  topic: string | null
  onSaved: () => void
  /** Of a form that is closed without a change. */
  onCancel?: () => void
}

export function TopicForm({ topic, onSaved, onCancel }: TopicFormProps) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [draft, setDraft] = useState(topic ?? '')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const length = [...draft.trim()].length
  const isTooLong = length > longestTopic

  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || isTooLong) return
    setBusy(true)
    try {
      await client.rooms.setTopic({ room: live.ref, topic: draft })
      setError(null)
      onSaved()
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  return (
    <form className="stack" aria-label={t.topic.title} onSubmit={save}>
      <label className="field">
        <span>{t.topic.field}</span>
        <textarea
          className="input"
          dir="auto"
          rows={4}
          value={draft}
          onChange={(event) => setDraft(event.target.value.replace(/\s/g, ' '))}
          onKeyDown={submitOnEnter}
        />
        <small className={`numerals ${isTooLong ? 'grave' : ''}`}>
          {length} / {longestTopic}
          {isTooLong && <span role="alert"> {t.topic.tooLong}</span>}
        </small>
        <small>{t.topic.hint}</small>
      </label>
      <Problem error={error} />
      <div className="row end">
        {onCancel && (
          <button type="button" className="button plain" onClick={onCancel}>
            {t.topic.cancel}
          </button>
        )}
        <button type="submit" className="button main" disabled={isTooLong} aria-disabled={isBusy || undefined}>
          {t.topic.save}
        </button>
      </div>
    </form>
  )
}

/** A topic is one line, shown here over several. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>) {
  if (event.key !== 'Enter' || isComposing(event)) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
