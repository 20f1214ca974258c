import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/room-key'
import { keyNames } from '../keys/key-table.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { isDeletion, type RowAct, rowActs } from '../moderation/row-acts.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useIsStarred, useStarring } from '../stars/use-stars.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { starTexts } from '../texts/stars.ts'
import { useDeletions } from './deletions.tsx'

const editableMilliseconds = 15 * 60_000

export const isEditable = (message: LocalMessage, account: string, now = Date.now()): boolean =>
  isSameAccount(message.sender_address, account) &&
  message.local === 'sent' &&
  !message.is_deleted &&
  message.poll_id === null &&
  !mediaIn(message.content, message.message_type) &&
  now - Date.parse(message.created_at) < editableMilliseconds

/** All that can be done with a message; of one that is not sent yet, only its text can be copied. */
export function MessageMenu(props: {
  message: LocalMessage
  text: string
  /** Opens the reactions, where the toolbar's own button for them is out of reach; else they are not offered again. */
  onReact: (() => void) | null
  onReport: () => void
  onClose: () => void
}) {
  const { message, onReact, onClose } = props
  const room = useOpenRoom()
  const { live, account, ownName, edit, reply, moderate } = room
  const attempt = useAttempt()
  const tell = useTell()
  const { remove } = useDeletions()
  const isStarred = useIsStarred(message.id)
  const setStar = useStarring(account)
  const isMine = isSameAccount(message.sender_address, account)
  const isSent = message.local === 'sent'
  const acts = rowActs(message, room)
  const graveActs = acts.filter(({ isGrave }) => isGrave)
  const isDeletedByAuthor = isMine && isSent && !acts.some(isDeletion)
  const isText = !mediaIn(props.text, message.message_type)
  const doing = (what: () => unknown) => () => {
    onClose()
    attempt(async () => what())
  }
  const copy = async () => {
    await navigator.clipboard.writeText(props.text)
    tell(t.menu.copied)
  }
  const choiceOf = (one: RowAct) => (
    <Choice
      key={one.title}
      icon={one.icon}
      title={one.title}
      shortcut={one.key && keyNames(one.key)[0]?.join('+')}
      isGrave={one.isGrave}
      onPress={doing(() => moderate(one))}
    />
  )

  return (
    <Menu label={t.menu.title} onClose={onClose}>
      {isSent && onReact && <Choice icon="smile" title={t.menu.react} onPress={onReact} />}
      {isSent && onReact && <Choice icon="reply" title={t.menu.reply} onPress={doing(() => reply(message))} />}
      {isText && isEditable(message, account) && (
        <Choice icon="pencil" title={t.menu.edit} onPress={doing(() => edit(message))} />
      )}
      {isText && <Choice icon="book" title={t.menu.copy} onPress={doing(copy)} />}
      {isSent && (
        <Choice
          icon="star"
          title={isStarred ? starTexts.remove : t.menu.star}
          onPress={doing(() => setStar(message, !isStarred))}
        />
      )}
      {!isMine && <Choice icon="flag" title={t.menu.report} onPress={doing(props.onReport)} />}
      {acts.filter(({ isGrave }) => !isGrave).map(choiceOf)}
      {(isDeletedByAuthor || graveActs.length > 0) && <hr />}
      {graveActs.map(choiceOf)}
      {isDeletedByAuthor && (
        <Choice
          icon="bin"
          title={t.menu.delete}
          isGrave
          onPress={doing(() =>
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
  shortcut?: string | null | undefined
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
