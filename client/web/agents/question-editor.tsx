import { type KeyboardEvent, useState } from 'react'
import { useFocused } from '../kit/focus.ts'
import { isComposing, sends } from '../kit/keys.ts'
import { useField } from '../messages/use-field.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { longestQuestion } from './ask-field.tsx'
import styles from './exchange-row.module.css'

/** A question in other words, which takes the place of the one before. */
export function QuestionEditor(props: {
  question: string
  onSend: (question: string) => Promise<void>
  onCancel: () => void
}) {
  const [text, setText] = useState(props.question)
  const field = useFocused<HTMLTextAreaElement>()
  useField(field, text)
  const written = text.trim()
  const canSend = written !== '' && [...written].length <= longestQuestion
  const send = () => {
    if (canSend) void props.onSend(written)
  }
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (sends(event)) {
      event.preventDefault()
      send()
    }
    if (event.key === 'Escape') props.onCancel()
  }
  return (
    <form
      className={styles.questionEditor}
      aria-label={t.acts.edit}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        dir="auto"
        ref={field}
        className="input"
        aria-label={t.acts.question}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={press}
      />
      <p className="hint">{t.acts.editHint}</p>
      <div className="row end">
        <button type="button" className="button small" onClick={props.onCancel}>
          {t.acts.cancel}
        </button>
        <button type="submit" className="button small main" disabled={!canSend}>
          {t.acts.send}
        </button>
      </div>
    </form>
  )
}
