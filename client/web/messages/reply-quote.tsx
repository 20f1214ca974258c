import type { Message } from '#shared/api/rooms/message'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { lineOf } from '../media/words.ts'
import { useNamesakes } from '../rooms/namesakes.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'

export function ReplyQuote({ quoted, id }: { quoted: NonNullable<Message['reply_to']>; id: string | null }) {
  const { live, isSealed, jumpTo } = useOpenRoom()
  const isHidden = useBlocked().has(quoted.sender_address)
  const original = live.state.messages.find((message) => message.id === id)
  const name = nameOf(original?.sender.name, quoted.sender_address)
  const { markOf } = useNamesakes()
  const mark = original ? markOf(original.sender) : null
  return (
    <button type="button" className={styles.quote} tabIndex={-1} onClick={() => id && jumpTo(id, original?.seq)}>
      <Icon name="reply" />
      <strong>{name}</strong>
      {mark && <small className="handle">{mark}</small>}
      <span dir="auto">
        {isHidden
          ? fromBlocked
          : lineOf(quoted.content, quoted.message_type) || (isSealed && !original ? t.row.earlier : t.row.deleted)}
      </span>
    </button>
  )
}
