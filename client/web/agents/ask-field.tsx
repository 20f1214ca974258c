import { type KeyboardEvent, useState } from 'react'
import { wasNotAnswered } from '#client/sdk/failures'
import type { LiveRun } from '#client/sdk/runs'
import type { Agent } from '#shared/api/agents/agent-records'
import { useSession } from '../accounts/session.ts'
import { composerId } from '../kit/composer-id.ts'
import { useFocused } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { isComposing, sends } from '../kit/keys.ts'
import { useAttempt } from '../kit/toasts.tsx'
import { agentDraftOf, keepText, readText } from '../messages/drafts.ts'
import { useField } from '../messages/use-field.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { locale } from '../texts/language.ts'
import styles from './agents.module.css'

/** The most characters of a question. */
export const longestQuestion = 10_000

/** The field to ask, and the button that stops what is being answered. */
export function AskField(props: {
  agent: Agent
  running: readonly LiveRun[]
  /** False where the question was not asked: its text stays. */
  onSend: (message: string) => Promise<boolean>
}) {
  const { agent, running } = props
  const { account } = useSession()
  const attempt = useAttempt()
  const draft = agentDraftOf(account, agent.id)
  const [text, setText] = useState(() => readText(draft) ?? '')
  const field = useFocused<HTMLTextAreaElement>()
  useField(field, text)
  const isTooLong = [...text].length > longestQuestion

  const write = (next: string) => {
    setText(next)
    keepText(draft, next)
  }
  const submit = () =>
    attempt(async () => {
      const message = text.trim()
      if (message === '' || isTooLong) return
      write('')
      if (!(await props.onSend(message))) write(text)
      field.current?.focus()
    })
  const stop = () =>
    attempt(async () => {
      const cancel = Promise.all(running.map((run) => run.cancel()))
      await cancel.catch((error) => {
        throw wasNotAnswered(error) ? new Error(t.field.stopLater) : error
      })
    })
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (sends(event)) {
      event.preventDefault()
      submit()
    }
    if (event.key === 'Escape' && running.length > 0) stop()
  }

  return (
    <form
      className="composer"
      aria-label={t.field.form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {isTooLong && (
        <p className="banner" role="status">
          <Icon name="warn" />
          <span>{t.field.tooLong({ count: longestQuestion.toLocaleString(locale) })}</span>
        </p>
      )}
      <div className="composer-field">
        <textarea
          dir="auto"
          ref={field}
          id={composerId}
          rows={1}
          aria-label={t.field.message}
          placeholder={t.field.ask({ name: isolated(agent.name) })}
          value={text}
          onChange={({ target }) => write(target.value)}
          onKeyDown={press}
        />
        {running.length > 0 && (
          <button type="button" className={`button small ${styles.stop}`} title={t.field.stopHint} onClick={stop}>
            <Icon name="stop" />
            {t.field.stop}
          </button>
        )}
        <button
          type="submit"
          className="send"
          aria-label={t.field.send}
          title={t.field.send}
          disabled={!text.trim() || isTooLong}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}
