import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { composerId } from '../kit/composer-id.ts'
import { useFocused } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { sends } from '../kit/keys.ts'
import { useField } from '../messages/use-field.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { locale } from '../texts/language.ts'

const longest = 10_000

/** The field of a visitor, who may ask one question at a time. */
export function VisitorField(props: {
  name: string
  text: string
  isBusy: boolean
  onWrite: (text: string) => void
  onSend: (message: string) => void
}) {
  const { name, text, isBusy, onWrite } = props
  const field = useFocused<HTMLTextAreaElement>()
  useField(field, text)
  const [isTold, setTold] = useState(false)
  const isTooLong = [...text].length > longest
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const message = text.trim()
    setTold(isBusy)
    if (message !== '' && !isTooLong && !isBusy) props.onSend(message)
  }
  const press = (event: KeyboardEvent) => {
    if (!sends(event)) return
    event.preventDefault()
    submit()
  }
  return (
    <form className="composer" aria-label={t.field.form} onSubmit={submit}>
      {(isTooLong || (isBusy && isTold)) && (
        <p className="banner" role="status">
          <Icon name="warn" />
          <span>{isTooLong ? t.field.tooLong({ count: longest.toLocaleString(locale) }) : t.field.oneAtATime}</span>
        </p>
      )}
      <div className="composer-field">
        <textarea
          dir="auto"
          ref={field}
          id={composerId}
          rows={1}
          aria-label={t.field.message}
          placeholder={t.field.ask({ name: isolated(name) })}
          value={text}
          onChange={({ target }) => onWrite(target.value)}
          onKeyDown={press}
        />
        <button
          type="submit"
          className="send"
          aria-label={t.field.send}
          title={t.field.send}
          disabled={!text.trim() || isTooLong || isBusy}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}
