import { useCallback, useState } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { rowActs } from '../moderation/row-acts.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { MessageMenu } from './message-menu.tsx'
import styles from './message-tools.module.css'
import { suggestions } from './reactions.tsx'

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
