import {
  type ClipboardEvent,
  type KeyboardEvent,
  lazy,
  type PointerEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { sealedLength } from '#client/sdk/direct/layout'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage, RoomState } from '#client/sdk/types'
import { longestMessage } from '#shared/kit/lengths'
import { withIdsOf, withPlainNames } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { isPressOf } from '../keys/key-table.ts'
import { composerId } from '../kit/composer-id.ts'
import { useFocused } from '../kit/focus.ts'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { isComposing, sends } from '../kit/keys.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { AttachButton, TrayList } from '../media/tray-list.tsx'
import { type Recorded, recordedAs } from '../media/use-recorder.ts'
import { useTray } from '../media/use-tray.ts'
import { lineOf } from '../media/words.ts'
import { agentsFor } from '../rooms/room-agents.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { goTo } from '../rooms/route.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { CompletionList, choiceId, completionId, useCompletion } from './completion-list.tsx'
import styles from './composer.module.css'
import { ComposerStatus, useStanding } from './composer-status.tsx'
import { editOf, keepDraft, keepText, readDraft, readText } from './drafts.ts'
import { isEditable } from './message-menu.tsx'
import { PickEmoji } from './pick-emoji.tsx'
import { PollForm } from './poll-card.tsx'
import { type Commands, inserted, knowEmojiOf, type Written, withEmoji } from './use-choices.ts'
import { useField } from './use-field.ts'

const PlaceForm = lazy(async () => ({ default: (await import('../media/place-form.tsx')).PlaceForm }))
const PixelEditor = lazy(async () => ({ default: (await import('../media/pixel-editor.tsx')).PixelEditor }))
const VoiceRecorder = lazy(async () => ({ default: (await import('../media/voice-recorder.tsx')).VoiceRecorder }))
const heldMilliseconds = 500

export interface ComposerHandle {
  reply(message: LocalMessage): void
  edit(message: LocalMessage): void
  rewrite(text: string): void
}

export function Composer(props: { state: RoomState; ref: Ref<ComposerHandle>; onSent: () => void }) {
  const { state, ref, onSent } = props
  const { live, account, isSealed, sealed } = useOpenRoom()
  const client = useClient()
  const attempt = useAttempt()
  const [text, setText] = useState(() => readDraft(account, live.ref))
  const [aim, setAim] = useState<Aim>(null)
  const [asks, setAsks] = useState<'poll' | 'emoji' | 'place' | 'pixel_art' | 'voice' | null>(null)
  const field = useFocused<HTMLTextAreaElement>()
  const { focusAtEnd, placeCursor } = useField(field, text)
  const standing = useStanding(state)
  const tray = useTray()
  const { offers } = standing
  const voiceKind = recordedAs(isSealed)
  const canSpeak = offers.voice && voiceKind !== null
  const hasReady = tray.items.some(({ state: one }) => one === 'ready')
  const addFiles = (files: readonly File[], asFiles = false) => tray.addFiles(files, offers, asFiles)
  const isDropped = useDropped(offers.photo || offers.gif || offers.file ? addFiles : null)
  const lengthOf = (written: string) => {
    const length = isSealed ? sealedLength(written) : 0
    // A direct conversation has no rule of its own that counts characters.
    return sealed === 'epoch' || length > longestMessage ? length : [...written].length
  }
  const length = lengthOf(text.trim())
  const commands: Commands = [
    ...(standing.canPoll
      ? [{ name: 'poll', title: t.commands.poll, icon: 'poll', act: () => setAsks('poll') } as const]
      : []),
    { name: 'emoji', title: t.composer.emoji, icon: 'smile', act: () => setAsks('emoji') },
    ...(sealed === 'epoch'
      ? []
      : [
          { name: 'members', title: t.commands.members, icon: 'people', act: () => goTo(live.ref, 'members') } as const,
        ]),
    ...(isSealed
      ? []
      : [{ name: 'search', title: t.commands.search, icon: 'search', act: () => goTo(live.ref, 'search') } as const]),
  ]
  const completion = useCompletion({ text, field, canMention: !isSealed, commands })

  const write = (written: Written) => {
    const { text: next, cursor } = withEmoji(written)
    if (next !== field.current?.value) placeCursor(cursor)
    setText(next)
    if (aim?.kind === 'edit') keepText(editOf(account, aim.message.id), next)
    else keepDraft(account, live.ref, next)
    live.setTyping(next.trim().length > 0)
  }
  const startEdit = async (message: LocalMessage) => {
    const clear = withPlainNames(message.content)
    if (mediaIn(clear)) throw new Error(t.composer.onlyText)
    setAim({ kind: 'edit', message })
    setText(readText(editOf(account, message.id)) ?? clear)
    focusAtEnd()
  }
  const cancelAim = () => {
    if (aim?.kind === 'edit') {
      keepText(editOf(account, aim.message.id), null)
      setText(readDraft(account, live.ref))
      live.setTyping(false)
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
      const agents = isSealed ? [] : await agentsFor(text, client, live)
      isAwaited.current = false
      const written = withEmoji({ text: field.current?.value ?? text, cursor: 0 }).text.trim()
      if (!standing.canWrite) return
      field.current?.focus()
      if (aim?.kind !== 'edit' && tray.items.length > 0) {
        tray.send()
        onSent()
      }
      if (!written) return
      if (lengthOf(written) > longestMessage) return
      if (aim?.kind === 'edit') {
        await live.edit(aim.message.id, isSealed ? written : withIdsOf(aim.message.content, written))
        return cancelAim()
      }
      live.send({ text: written, reply_to: aim?.message.id ?? null, mentions: completion.spansOf(written, agents) })
      onSent()
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

  const paste = (event: ClipboardEvent) => {
    const { files } = event.clipboardData
    if (files.length === 0 || event.clipboardData.getData('text/plain')) return
    event.preventDefault()
    addFiles([...files])
  }
  const stopping = useRef<(() => void) | null>(null)
  /** A press records until it is stopped; a pointer that is held records until it is released. */
  const record = ({ button }: PointerEvent) => {
    if (button !== 0) return
    const began = performance.now()
    const release = () => {
      if (performance.now() - began > heldMilliseconds) stopping.current?.()
    }
    document.addEventListener('pointerup', release, { once: true })
    setAsks('voice')
  }
  const recorded = (result: Recorded | null) => {
    if (result) tray.addVoice(result.sound, result.seconds)
    closeAsked()
  }

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event) || completion.press(event, write)) return
    if (sends(event)) {
      event.preventDefault()
      submit()
    } else if (event.key === 'Escape' && aim) {
      event.stopPropagation()
      cancelAim()
    } else if (isPressOf('editLast', event) && text === '' && !aim) {
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
        className={`composer ${styles.composer}`}
        aria-label={t.composer.form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <ComposerStatus state={state} standing={standing} length={length} />
        {aim && <ComposerContext aim={aim} onCancel={cancelAim} />}
        <TrayList tray={tray} />
        {isDropped && <p className={styles.dropHere}>{offers.file ? t.composer.dropFiles : t.composer.drop}</p>}
        {completion.found.length > 0 && (
          <CompletionList completion={completion} onPick={(choice) => write(completion.pick(choice))} />
        )}
        {asks === 'voice' && voiceKind && (
          <LazyBoundary>
            <VoiceRecorder kind={voiceKind} mostBytes={tray.mostBytes} stopping={stopping} onEnd={recorded} />
          </LazyBoundary>
        )}
        <div className={`composer-field ${styles.field} ${standing.canWrite ? '' : 'shut'}`} hidden={asks === 'voice'}>
          <AttachButton
            offers={offers}
            canPoll={standing.canPoll}
            canSpeak={canSpeak}
            mostBytes={tray.mostBytes}
            onFiles={addFiles}
            onAsk={setAsks}
          />
          <textarea
            dir="auto"
            ref={field}
            id={composerId}
            rows={1}
            aria-label={t.composer.field}
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
            onPaste={paste}
          />
          <button
            type="button"
            className="icon-button"
            aria-label={t.composer.emoji}
            title={t.composer.emoji}
            disabled={!standing.canWrite}
            onClick={() => setAsks('emoji')}
          >
            <Icon name="smile" />
          </button>
          {canSpeak && (
            <button
              type="button"
              className="icon-button"
              aria-label={t.composer.voice}
              title={t.composer.voice}
              onPointerDown={record}
              onClick={() => setAsks('voice')}
            >
              <Icon name="microphone" />
            </button>
          )}
          <button
            type="submit"
            className="send"
            aria-label={t.composer.send}
            title={t.composer.send}
            disabled={!standing.canWrite || !(text.trim() || hasReady) || length > longestMessage}
          >
            <Icon name={aim?.kind === 'edit' ? 'check' : 'send'} />
          </button>
        </div>
      </form>
      {asks === 'poll' && <PollForm onSent={onSent} onClose={closeAsked} />}
      {asks === 'place' && (
        <LazyBoundary>
          <PlaceForm onSent={onSent} onClose={closeAsked} />
        </LazyBoundary>
      )}
      {asks === 'pixel_art' && (
        <LazyBoundary>
          <PixelEditor
            first={tray.drawing}
            onChange={tray.keepDrawing}
            onDraw={(drawing) => {
              tray.addDrawing(drawing)
              tray.keepDrawing(null)
              closeAsked()
            }}
            onClose={closeAsked}
          />
        </LazyBoundary>
      )}
      {asks === 'emoji' && <PickEmoji onPick={insert} onClose={closeAsked} />}
    </>
  )
}

/** The message that the text in the composer replies to or edits. */
function ComposerContext({ aim, onCancel }: { aim: NonNullable<Aim>; onCancel: () => void }) {
  const { message } = aim
  return (
    <div className="composer-aim">
      <Icon name={aim.kind === 'edit' ? 'pencil' : 'reply'} />
      <span className="grow">
        <strong>
          {aim.kind === 'edit'
            ? t.composer.editing
            : t.composer.replyTo({ name: nameOf(message.sender.name, message.sender_address) })}
        </strong>{' '}
        {lineOf(message.content, message.message_type)}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label={t.composer.cancel}
        title={t.composer.cancel}
        onClick={onCancel}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}

/** The message that the text in the composer replies to or edits. */
type Aim = { kind: 'reply' | 'edit'; message: LocalMessage } | null

/** Takes files that are dropped anywhere on the page; true while some are held above it. */
function useDropped(take: ((files: readonly File[]) => void) | null): boolean {
  const [isHeld, setHeld] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const hold = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files') || document.querySelector('dialog[open]')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = latest.current ? 'copy' : 'none'
      setHeld(latest.current !== null)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setHeld(false)
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setHeld(false)
      latest.current?.([...event.dataTransfer.files])
    }
    document.addEventListener('dragover', hold)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', hold)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return isHeld
}
