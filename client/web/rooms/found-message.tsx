import type { Message } from '#shared/api/rooms/message'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { fullTimeOf, nameOf } from '../kit/format.ts'
import { lineOf } from '../media/words.ts'
import { lookOf } from './kind.ts'
import { useOpenRoom } from './room-context.ts'
import { goTo } from './route.ts'

/** A message in a list beside the room; a press leads to it. */
export function FoundMessage({ message }: { message: Message }) {
  const jump = useJump()
  const blocked = useBlocked()
  return (
    <button type="button" onClick={() => jump(message)}>
      <small>
        {nameOf(message.sender.name, message.sender_address)} · {fullTimeOf(message.created_at)}
      </small>
      <span dir="auto">
        {blocked.has(message.sender_address) ? fromBlocked : lineOf(message.content, message.message_type)}
      </span>
    </button>
  )
}

/** Leads to a message from the panel, which is closed where it covers the messages. */
export function useJump(): (message: Pick<Message, 'id' | 'seq'>) => void {
  const { live, jumpTo } = useOpenRoom()
  const covers = lookOf(live.ref).isWatched ? '(max-width: 1023px)' : '(max-width: 759px)'
  return ({ id, seq }) => {
    jumpTo(id, seq)
    if (matchMedia(covers).matches) goTo(live.ref)
  }
}
