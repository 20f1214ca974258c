import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/room-key'
import { keyNames } from '../keys/key-table.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
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
  anchor: HTMLElement
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
  const doing = (what: () => unknown) => () => attempt(async () => what())
  const copy = async () => {
    await navigator.clipboard.writeText(props.text)
    tell(t.menu.copied)
  }
  const choiceOf = (one: RowAct) => (
    <MenuItem
      key={one.title}
      icon={one.icon}
      shortcut={one.key && keyNames(one.key)[0]?.join('+')}
      isGrave={one.isGrave}
      onPress={doing(() => moderate(one))}
    >
      {one.title}
    </MenuItem>
  )

  return (
    <Menu label={t.menu.title} anchor={props.anchor} onClose={onClose}>
      {isSent && onReact && (
        <MenuItem icon="smile" onPress={onReact}>
          {t.menu.react}
        </MenuItem>
      )}
      {isSent && onReact && (
        <MenuItem icon="reply" onPress={doing(() => reply(message))}>
          {t.menu.reply}
        </MenuItem>
      )}
      {isText && isEditable(message, account) && (
        <MenuItem icon="pencil" onPress={doing(() => edit(message))}>
          {t.menu.edit}
        </MenuItem>
      )}
      {isText && (
        <MenuItem icon="book" onPress={doing(copy)}>
          {t.menu.copy}
        </MenuItem>
      )}
      {isSent && (
        <MenuItem icon="star" onPress={doing(() => setStar(message, !isStarred))}>
          {isStarred ? starTexts.remove : t.menu.star}
        </MenuItem>
      )}
      {!isMine && (
        <MenuItem icon="flag" onPress={doing(props.onReport)}>
          {t.menu.report}
        </MenuItem>
      )}
      {acts.filter(({ isGrave }) => !isGrave).map(choiceOf)}
      {(isDeletedByAuthor || graveActs.length > 0) && <hr />}
      {graveActs.map(choiceOf)}
      {isDeletedByAuthor && (
        <MenuItem
          icon="bin"
          isGrave
          onPress={doing(() =>
            remove({ id: message.id, room: roomKey(live.ref), name: ownName, send: () => live.remove(message.id) }),
          )}
        >
          {t.menu.delete}
        </MenuItem>
      )}
    </Menu>
  )
}
