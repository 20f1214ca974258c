import { type KeyboardEvent, type Ref, useImperativeHandle, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { LocalMessage, RoomState } from '#client/sdk/types'
import { longestMessage } from '#shared/kit/lengths'
import { composerId, useFocused } from '../kit/focus.ts'
import { Icon } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { goTo } from '../rooms/route.ts'
import type { Aim } from './aim.ts'
import { CompletionList, choiceId, completionId } from './completion-list.tsx'
import { ComposerContext } from './composer-context.tsx'
import { ComposerStatus, useStanding } from './composer-status.tsx'
import { editOf, keepDraft, keepText, readDraft, readText } from './drafts.ts'
import { isEditable } from './message-tools.tsx'
import { PickEmoji } from './pick-emoji.tsx'
import { PollForm } from './poll-form.tsx'
import { type Commands, inserted, knowEmojiOf, type Written, withEmoji } from './use-choices.ts'
import { useCompletion } from './use-completion.ts'
import { useField } from './use-field.ts'

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
  const [asks, setAsks] = useState<'poll' | 'emoji' | null>(null)
  const field = useFocused<HTMLTextAreaElement>()
  const { focusAtEnd, placeCursor } = useField(field, text)
  const standing = useStanding(state)
  const lengthOf = (written: string) => cipher?.lengthOf(written) ?? [...written].length
  const length = lengthOf(text.trim())
  const commands: Commands = [
    ...(standing.canPoll
      ? [{ name: 'poll', title: 'Ask the room', icon: 'poll', act: () => setAsks('poll') } as const]
      : []),
    { name: 'emoji', title: 'Choose an emoji', icon: 'smile', act: () => setAsks('emoji') },
    ...(cipher
      ? []
      : [
          { name: 'members', title: 'See who is here', icon: 'people', act: () => goTo(live.ref, 'members') } as const,
          { name: 'search', title: 'Search this room', icon: 'search', act: () => goTo(live.ref, 'search') } as const,
        ]),
  ]
  const completion = useCompletion({ text, field, canMention: cipher === null, commands })

  const write = (written: Written) => {
    const { text: next, cursor } = withEmoji(written)
    if (next !== field.current?.value) placeCursor(cursor)
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

  const isAwaited = useRef(false)
  const submit = () =>
    attempt(async () => {
      if (isAwaited.current) return
      isAwaited.current = true
      await knowEmojiOf(text)
      isAwaited.current = false
      const written = withEmoji({ text: field.current?.value ?? text, cursor: 0 }).text.trim()
      if (!written || !standing.canWrite) return
      field.current?.focus()
      if (lengthOf(written) > longestMessage) return
      const content = cipher ? await cipher.encrypt(written) : written
      if (aim?.kind === 'edit') {
        await live.edit(aim.message.id, content)
        return cancelAim()
      }
      live.send({ text: content, reply_to: aim?.message.id ?? null, mentions: completion.spansOf(written) })
      completion.clear()
      setAim(null)
      setText('')
      keepDraft(account, live.ref, '')
      live.setTyping(false)
    })

  const closeAsked = () => {
    // An open overlay restores the focus when it closes, so it must be closed first.
    flushSync(() => setAsks(null))
    field.current?.focus()
  }
  const insert = (emoji: string) => {
    write(inserted({ text, cursor: field.current?.selectionStart ?? text.length }, emoji))
    closeAsked()
  }

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || completion.press(event, write)) return
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
        <ComposerStatus state={state} standing={standing} length={length} />
        {aim && <ComposerContext aim={aim} onCancel={cancelAim} />}
        {completion.found.length > 0 && (
          <CompletionList completion={completion} onPick={(choice) => write(completion.pick(choice))} />
        )}
        <div className={`composer-field ${standing.canWrite ? '' : 'shut'}`}>
          {standing.canPoll && (
            <button
              type="button"
              className="icon-button"
              aria-label="Make a poll"
              title="Make a poll"
              onClick={() => setAsks('poll')}
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
            aria-controls={completion.found.length > 0 ? completionId : undefined}
            aria-activedescendant={completion.found.length > 0 ? choiceId(completion.chosen) : undefined}
            placeholder={standing.placeholder}
            disabled={!standing.canWrite}
            value={text}
            onChange={({ target }) => {
              write({ text: target.value, cursor: target.selectionStart })
              completion.look()
            }}
            onSelect={completion.look}
            onBlur={completion.close}
            onKeyDown={press}
          />
          <button
            type="button"
            className="icon-button"
            aria-label="Choose an emoji"
            title="Choose an emoji"
            disabled={!standing.canWrite}
            onClick={() => setAsks('emoji')}
          >
            <Icon name="smile" />
          </button>
          <button
            type="submit"
            className="send"
            aria-label="Send"
            title="Send"
            disabled={!standing.canWrite || !text.trim() || length > longestMessage}
          >
            <Icon name={aim?.kind === 'edit' ? 'check' : 'send'} />
          </button>
        </div>
      </form>
      {asks === 'poll' && <PollForm onClose={closeAsked} />}
      {asks === 'emoji' && <PickEmoji onPick={insert} onClose={closeAsked} />}
    </>
  )
}
