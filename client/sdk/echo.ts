import { usualTo } from '#shared/api/rooms/lean'
import { isSameAccount } from '#shared/kit/accounts'
import type { Pending } from './outbox.ts'
import type { LocalMessage, RoomState } from './types.ts'

/** A message as it is shown before the server has accepted it: without a seq, and with its client id as id. */
export function echoOf(pending: Pending, state: RoomState, account: string | null): LocalMessage {
  const { client_msg_id, draft, at, status, refusal } = pending
  const mine = state.messages.findLast(({ sender_address }) => isSameAccount(sender_address, account))
  const answered = state.messages.find(({ id }) => id === draft.reply_to)
  const actor = mine?.sender ?? { id: account ?? '', name: account ?? '', role: state.me.role, isAgent: false }
  const place = { room: state.ref, seq: 0, at, actor }
  return {
    ...usualTo({ ...draft, room: state.ref, client_msg_id }, place, {}),
    id: client_msg_id,
    n: 0,
    version: 0,
    client_msg_id,
    content: draft.text,
    reply_to_id: draft.reply_to ?? null,
    reply_to: answered
      ? {
          id: answered.id,
          sender_address: answered.sender_address,
          content: answered.content,
          message_type: answered.message_type,
        }
      : null,
    local: status,
    refusal,
    reacted: [],
  }
}
