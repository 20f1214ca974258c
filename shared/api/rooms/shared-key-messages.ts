import { z } from 'zod'
import { MessageType } from '#shared/api/moderation/verdict'
import { operation } from '#shared/kit/contract'
import { CallerAddress, ClientId, Id, Moment, maybe, Time } from '#shared/kit/primitives'
import type { Message } from './message.ts'
import { Content, draft } from './message-draft.ts'
import { channelRef, RoomId, seen } from './room-paths.ts'

/** A message of a channel with a shared key, as the documented path has it. */
const SharedKeyMessage = z.object({
  id: z.string(),
  channel_id: z.string().nullable(),
  content_topic: z.string().nullable(),
  sender_address: z.string(),
  /** As stored: sealed by the channel's key, except clear texts of older versions. */
  content: z.string(),
  message_type: MessageType,
  created_at: Time,
  /** The `client_msg_id`, to which the content is bound. */
  waku_message_id: z.string(),
})

export const sharedKeyRowsAtMost = 200

export const sharedKeyMessages = {
  sharedKeyHistory: operation({
    summary: `Messages of a channel with a shared key (\`messaging_type: p2p\`), oldest first: ${sharedKeyRowsAtMost} of them from a time on, or the newest. Deleted ones are left out.`,
    http: 'GET /api/channels/:id/p2p-messages',
    aliases: [{ http: 'GET /api/channels/:id/waku-messages' }],
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ id: RoomId, since: Moment.optional(), userAddress: CallerAddress }),
    output: z.object({ messages: z.array(SharedKeyMessage) }),
    errors: seen,
  }),
}

/** Sending there; refused where the channel has no shared key, so that nothing is stored in clear by mistake. */
export const sendSharedKeyAliases = (['p2p-messages', 'waku-messages'] as const).map((name) => ({
  http: `POST /api/channels/:id/${name}` as const,
  input: z
    .object({
      id: RoomId,
      content: Content,
      messageType: draft.messageType,
      replyToId: Id.nullish(),
      blobs: draft.blobs,
      senderAddress: CallerAddress,
      client_msg_id: ClientId.optional(),
      /** The same, as the documented path calls it. One of the two is required, as the content is sealed with it. */
      wakuMessageId: maybe(ClientId),
    })
    .transform(({ id, content, client_msg_id, wakuMessageId, ...rest }) => {
      const own = client_msg_id ?? wakuMessageId
      return {
        ...rest,
        ...{ room: channelRef(id), text: content, sealed_by: 'shared-key' as const },
        ...(own === undefined ? {} : { client_msg_id: own }),
      }
    }),
  answer: {
    schema: z.object({ message: SharedKeyMessage.omit({ content_topic: true }) }),
    of: ({ message }: { message: Message }) => ({ message: sharedKeyRow(message) }),
  },
}))

export const sharedKeyRow = (message: Message) => {
  const { id, channel_id, sender_address, content, message_type, created_at, client_msg_id } = message
  return { id, channel_id, sender_address, content, message_type, created_at, waku_message_id: client_msg_id }
}
