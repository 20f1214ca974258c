import { useCallback, useState } from 'react'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { roomKey } from '#shared/kit/room-key'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { rowActs } from '../moderation/row-acts.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useDeletions } from './deletions.tsx'
import { suggestions } from './reactions.tsx'

const editableMilliseconds = 15 * 60_000

export const isEditable = (message: LocalMessage, account: string, now = Date.now()): boolean =>
  message.sender_address === account &&
  message.local === 'sent' &&
  !message.is_deleted &&
  message.poll_id === null &&
  !mediaIn(message.content, message.message_type) &&
  now - Date.parse(message.created_at) < editableMilliseconds

/** The toolbar of one message; shown on the row under the pointer or with the focus. */
export function MessageTools(props: { message: LocalMessage; text: string; onReport: () => void }) {
  const { message } = props
  const { live, reply, react } = useOpenRoom()
  const attempt = useAttempt()
  const [open, setOpen] = useState<'react' | 'more' | null>(null)
  const close = useCallback(() => setOpen(null), [])

  return (
    <div className="tools">
      <div role="toolbar" aria-label="Message">
        <Tool icon="smile" title="React" isOpen={open === 'react'} onPress={() => setOpen('react')} />
        <Tool icon="reply" title="Reply" onPress={() => reply(message)} />
        <Tool icon="more" title="More" isOpen={open === 'more'} onPress={() => setOpen('more')} />
        {open === 'react' && (
          <Menu label="Reactions" onClose={close}>
            <div className="palette">
              {suggestions.map((emoji) => (
                <button
                  key={emoji}
                  type="button"
                  role="menuitem"
                  aria-label={emoji}
                  onClick={() => {
                    close()
                    attempt(() => live.react(message.id, emoji))
                  }}
                >
                  {emoji}
                </button>
              ))}
              <button
                type="button"
                role="menuitem"
                className="any"
                onClick={() => {
                  close()
                  react(message)
                }}
              >
                <Icon name="plus" />
                Any other emoji
              </button>
            </div>
          </Menu>
        )}
        {open === 'more' && <MoreTools {...props} onClose={close} />}
      </div>
    </div>
  )
}

function Tool(props: { icon: IconName; title: string; isOpen?: boolean; onPress: () => void }) {
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={props.title}
      title={props.title}
      aria-expanded={props.isOpen}
      onClick={props.onPress}
    >
      <Icon name={props.icon} />
    </button>
  )
}

function MoreTools(props: { message: LocalMessage; text: string; onReport: () => void; onClose: () => void }) {
  const { message, onClose } = props
  const room = useOpenRoom()
  const { live, account, ownName, edit, moderate } = room
  const attempt = useAttempt()
  const tell = useTell()
  const { remove } = useDeletions()
  const isMine = message.sender_address === account
  const acts = rowActs(message, room)
  const isText = !mediaIn(props.text, message.message_type)
  const act = (what: () => Promise<unknown>) => () => {
    onClose()
    attempt(what)
  }
  const copy = async () => {
    await navigator.clipboard.writeText(props.text)
    tell('Copied.')
  }

  return (
    <Menu label="More" onClose={onClose}>
      {isText && isEditable(message, account) && (
        <Choice icon="pencil" title="Edit" onPress={act(async () => edit(message))} />
      )}
      {isText && <Choice icon="book" title="Copy text" onPress={act(copy)} />}
      {!isMine && (
        <Choice
          icon="flag"
          title="About the sender, report"
          onPress={() => {
            onClose()
            props.onReport()
          }}
        />
      )}
      {acts.map((one) => (
        <Choice
          key={one.title}
          icon={one.icon}
          title={one.title}
          shortcut={one.key}
          isGrave={one.question !== null || one.act.action === 'delete'}
          onPress={act(async () => moderate(one))}
        />
      ))}
      {isMine && acts.every((one) => one.act.action !== 'delete') && (
        <Choice
          icon="bin"
          title="Delete"
          isGrave
          onPress={act(async () =>
            remove({ id: message.id, room: roomKey(live.ref), name: ownName, send: () => live.remove(message.id) }),
          )}
        />
      )}
    </Menu>
  )
}

function Choice(props: {
  icon: IconName
  title: string
  shortcut?: string | null
  isGrave?: boolean
  onPress: () => void
}) {
  return (
    <button
      type="button"
      role="menuitem"
      className={props.isGrave ? 'grave' : ''}
      aria-keyshortcuts={props.shortcut ?? undefined}
      onClick={props.onPress}
    >
      <Icon name={props.icon} />
      <span className="grow">{props.title}</span>
      {props.shortcut && <kbd>{props.shortcut}</kbd>}
    </button>
  )
}
