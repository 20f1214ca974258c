import { useCallback, useState } from 'react'
import { mediaIn } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/room-key'
import { keyNames } from '../keys/key-table.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { isDeletion, type RowAct, rowActs } from '../moderation/person-acts.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { linkToMessage } from '../rooms/route.ts'
import { useIsStarred, useStarring } from '../stars/use-stars.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { starTexts } from '../texts/stars.ts'
import { useDeletions } from './deletions.tsx'
import styles from './message-tools.module.css'
import { suggestions } from './reactions.tsx'

const editableMilliseconds = 15 * 60_000

export const isEditable = (message: LocalMessage, account: string, now = Date.now()): boolean =>
  isSameAccount(message.sender_address, account) &&
  message.local === 'sent' &&
  !message.is_deleted &&
  message.poll_id === null &&
  !mediaIn(message.content, message.message_type) &&
  now - Date.parse(message.created_at) < editableMilliseconds

/** All that can be done with a message; of one that is not sent yet, only its text can be copied. */
function MessageMenu(props: {
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
  const copy = (text: string, told: string) => async () => {
    await navigator.clipboard.writeText(text)
    tell(told)
  }
  const link = () => new URL(linkToMessage(live.ref, String(message.seq)), location.href).href
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
        <MenuItem icon="book" onPress={doing(copy(props.text, t.menu.copied))}>
          {t.menu.copy}
        </MenuItem>
      )}
      {isSent && (
        <MenuItem icon="link" onPress={doing(copy(link(), t.menu.linkCopied))}>
          {t.menu.copyLink}
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

/** Which of the menus of a message is open: `all` has what the toolbar has, too. */
export type OpenMenu = 'react' | 'more' | 'all' | null

/** The toolbar of one message; shown on the row under the pointer or with the focus. */
export function MessageTools(props: {
  message: LocalMessage
  text: string
  open: OpenMenu
  setOpen: (menu: OpenMenu) => void
  onReport: () => void
}) {
  const { message, text, open, setOpen, onReport } = props
  const room = useOpenRoom()
  const { live, reply, react, isModerating, moderate } = room
  const attempt = useAttempt()
  const [toolbar, setToolbar] = useState<HTMLDivElement | null>(null)
  const close = useCallback(() => setOpen(null), [setOpen])
  const turn = (menu: OpenMenu) => () => setOpen(open === menu ? null : menu)
  const isWaiting = message.local !== 'sent'
  const quickActs = isModerating ? rowActs(message, room).filter(({ isQuick }) => isQuick) : []

  return (
    <div className={styles.tools}>
      <div ref={setToolbar} role="toolbar" aria-label={t.menu.toolbar}>
        <Tool icon="smile" title={t.menu.react} isOff={isWaiting} isOpen={open === 'react'} onPress={turn('react')} />
        <Tool icon="reply" title={t.menu.reply} isOff={isWaiting} onPress={() => reply(message)} />
        {quickActs.map((one) => (
          <Tool key={one.title} icon={one.icon} title={one.title} onPress={() => moderate(one)} />
        ))}
        <Tool icon="more" title={t.menu.title} isOpen={open === 'more'} onPress={turn('more')} />
        {toolbar && open === 'react' && (
          <Menu label={t.reactions.title} anchor={toolbar} onClose={close}>
            <div className={styles.palette}>
              {suggestions.map((emoji) => (
                <MenuItem key={emoji} label={emoji} onPress={() => attempt(() => live.react(message.id, emoji))}>
                  {emoji}
                </MenuItem>
              ))}
              <MenuItem className={styles.any} onPress={() => react(message)}>
                <Icon name="plus" />
                {t.menu.anyEmoji}
              </MenuItem>
            </div>
          </Menu>
        )}
        {toolbar && (open === 'more' || open === 'all') && (
          <MessageMenu
            message={message}
            text={text}
            anchor={toolbar}
            onReact={open === 'all' ? () => setOpen('react') : null}
            onReport={onReport}
            onClose={close}
          />
        )}
      </div>
    </div>
  )
}

function Tool(props: {
  icon: IconName
  title: string
  /** Whether it has to wait until the message is sent. */
  isOff?: boolean
  isOpen?: boolean
  onPress: () => void
}) {
  return (
    <button
      type="button"
      className="icon-button small"
      aria-label={props.title}
      title={props.title}
      aria-expanded={props.isOpen}
      aria-disabled={props.isOff || undefined}
      onClick={props.isOff ? undefined : props.onPress}
    >
      <Icon name={props.icon} />
    </button>
  )
}
