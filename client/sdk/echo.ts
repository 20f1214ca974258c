import type { Pending } from './outbox.ts'
import type { LocalMessage, RoomState } from './types.ts'

/** A message as it is shown before the server has it: no seq, and its client id as id. */
export function echoOf(pending: Pending, state: RoomState, account: string | null): LocalMessage {
  const { client_msg_id, draft, at, status, refusal } = pending
  const mine = state.messages.findLast(({ sender_address }) => sender_address === account)
  const answered = state.messages.find(({ id }) => id === draft.reply_to)
  return {
    id: client_msg_id,
    room: state.ref,
    channel_id: state.ref.id,
    seq: 0,
    n: 0,
    version: 0,
    client_msg_id,
    sender_address: account ?? '',
    sender: mine?.sender ?? { id: account ?? '', name: account ?? '', role: state.me.role, isAgent: false },
    content: draft.text,
    message_type: draft.type ?? 'text',
    attachments: draft.attachments ?? [],
    mentions: draft.mentions ?? [],
    created_at: at,
    reply_to_id: draft.reply_to ?? null,
    reply_to: answered
      ? {
          id: answered.id,
          sender_address: answered.sender_address,
          content: answered.content,
          message_type: answered.message_type,
        }
      : null,
    reactions: {},
    poll_id: null,
    is_pinned: false,
    pinned_by: null,
    pinned_at: null,
    is_edited: false,
    edited_at: null,
    is_deleted: false,
    deleted_by: null,
    deleted_at: null,
    delete_reason: null,
    local: status,
    refusal,
  }
}
