import { type KeyboardEvent, type Ref, useImperativeHandle, useState } from 'react'
import type { LocalMessage, RoomState } from '#client/sdk/types'
import { composerId, useFocused } from '../kit/focus.ts'
import { Icon } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import type { Aim } from './aim.ts'
import { ComposerContext } from './composer-context.tsx'
import { ComposerStatus, useStanding } from './composer-status.tsx'
import { editOf, keepDraft, keepText, readDraft, readText } from './drafts.ts'
import { MentionPicker } from './mention-picker.tsx'
import { isEditable } from './message-tools.tsx'
import { PollForm } from './poll-form.tsx'
import { useField } from './use-field.ts'
import { useMentions } from './use-mentions.ts'

export interface ComposerHandle {
  reply(message: LocalMessage): void
  edit(message: LocalMessage): void
  rewrite(text: string): void
}

export function Composer({ state, ref }: { state: RoomState; ref: Ref<ComposerHandle> }) {
  const { live, account, cipher } = useOpenRoom()
  const attempt = useAttempt()
  const [text, setText] = useState(() => readDraft(account, live.ref))
  const [aim, setAim] = useState<Aim>(null)
  const [asksPoll, setAsksPoll] = useState(false)
  const field = useFocused<HTMLTextAreaElement>()
  const { focusAtEnd } = useField(field, text)
  const standing = useStanding(state)
  const mentions = useMentions({ text, field, canMention: cipher === null })

  const write = (next: string) => {
    setText(next)
    if (aim?.kind === 'edit') keepText(editOf(account, aim.message.id), next)
    else keepDraft(account, live.ref, next)
    live.setTyping(next.trim().length > 0)
  }
  const startEdit = async (message: LocalMessage) => {
    setAim({ kind: 'edit', message })
    const kept = readText(editOf(account, message.id))
    setText(kept ?? (cipher ? await cipher.decrypt(message.content) : message.content))
    focusAtEnd()
  }
  const cancelAim = () => {
    if (aim?.kind === 'edit') {
      keepText(editOf(account, aim.message.id), null)
      setText(readDraft(account, live.ref))
    }
    setAim(null)
  }
  useImperativeHandle(ref, () => ({
    reply: (message) => {
      if (aim?.kind === 'edit') setText(readDraft(account, live.ref))
      setAim({ kind: 'reply', message })
      focusAtEnd()
    },
    edit: (message) => {
      attempt(() => startEdit(message))
    },
    rewrite: (next) => {
      const draft = readDraft(account, live.ref)
      const both = draft ? `${next}\n${draft}` : next
      setAim(null)
      setText(both)
      keepDraft(account, live.ref, both)
      focusAtEnd()
    },
  }))

  const submit = () =>
    attempt(async () => {
      const written = text.trim()
      if (!written || !standing.canWrite) return
      field.current?.focus()
      const content = cipher ? await cipher.encrypt(written) : written
      if (aim?.kind === 'edit') {
        await live.edit(aim.message.id, content)
        return cancelAim()
      }
      live.send({ text: content, reply_to: aim?.message.id ?? null, mentions: mentions.spansOf(written) })
      mentions.clear()
      setAim(null)
      setText('')
      keepDraft(account, live.ref, '')
      live.setTyping(false)
    })

  const closePoll = () => {
    setAsksPoll(false)
    focusAtEnd()
  }

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || mentions.press(event, write)) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      submit()
    } else if (event.key === 'Escape' && aim) {
      event.stopPropagation()
      cancelAim()
    } else if (event.key === 'ArrowUp' && text === '' && !aim) {
      const last = state.messages.findLast((message) => isEditable(message, account))
      if (last) {
        event.preventDefault()
        attempt(() => startEdit(last))
      }
    }
  }

  return (
    <>
      <form
        className="composer"
        aria-label="Write a message"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <ComposerStatus state={state} standing={standing} length={[...text].length} />
        {aim && <ComposerContext aim={aim} onCancel={cancelAim} />}
        {mentions.found.length > 0 && (
          <MentionPicker mentions={mentions} onPick={(member) => write(mentions.pick(member))} />
        )}
        <div className={`composer-field ${standing.canWrite ? '' : 'shut'}`}>
          {standing.canPoll && (
            <button
              type="button"
              className="icon-button"
              aria-label="Make a poll"
              title="Make a poll"
              onClick={() => setAsksPoll(true)}
            >
              <Icon name="poll" />
            </button>
          )}
          <textarea
            ref={field}
            id={composerId}
            rows={1}
            aria-label="Message"
            aria-autocomplete="list"
            aria-controls={mentions.found.length > 0 ? 'mention-picker' : undefined}
            aria-activedescendant={mentions.found.length > 0 ? `mention-${mentions.chosen}` : undefined}
            placeholder={standing.placeholder}
            disabled={!standing.canWrite}
            value={text}
            onChange={(event) => write(event.target.value)}
            onSelect={mentions.look}
            onKeyDown={press}
          />
          <button
            type="submit"
            className="send"
            aria-label="Send"
            title="Send"
            disabled={!standing.canWrite || !text.trim()}
          >
            <Icon name={aim?.kind === 'edit' ? 'check' : 'send'} />
          </button>
        </div>
      </form>
      {asksPoll && <PollForm onClose={closePoll} />}
    </>
  )
}
