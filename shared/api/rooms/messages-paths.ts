import { z } from 'zod'
import { MessageType, Verdict } from '#shared/api/moderation/verdict'
import { operation } from '#shared/kit/contract'
import { CallerAddress, ClientId, count, Done, Id, Moment, maybe, pageSize, Time, text } from '#shared/kit/primitives'
import { Blobs, Content, cursor, draft, Mentions, Message, NoAttachments, Reaction, Sign } from './message.ts'
import { channelRef, pathOf, RoomId, roomPaths, seen } from './room-paths.ts'

/** Clients of the documented paths read the message at top level as well. */
const asMessage = {
  schema: z.object({ message: Message, verdict: Verdict }).and(Message),
  of: (sent: { message: Message }) => ({ ...sent.message, ...sent }),
}
const succeeded = { schema: Done, of: () => ({ success: true }) }

export const historyAliases = roomPaths.map(({ path, ref, fields }) => ({
  http: `GET ${path}/messages` as const,
  input: z
    .object({
      ...pathOf(fields),
      limit: pageSize(100),
      ...cursor,
      before: Moment.optional(),
      after: Moment.optional(),
      since: Moment.optional(),
    })
    .refine(({ after, since }) => !after || !since || after === since, {
      path: ['since'],
      error: 'not together with another after',
    })
    .transform(({ id, userAddress, before, after, since, ...page }) => ({
      room: ref(id ?? ''),
      ...page,
      ...(before ? { before } : {}),
      ...((after ?? since) ? { after: after ?? since } : {}),
    })),
  answer: {
    schema: z.object({ messages: z.array(Message), reactions: z.array(Reaction), has_more: z.boolean() }),
    of: ({ messages, reactions, has_more }: { messages: Message[]; reactions: unknown[]; has_more: boolean }) => ({
      messages,
      reactions,
      has_more,
    }),
  },
}))

export const sendAliases = roomPaths.map(({ path, ref, fields }) => ({
  http: `POST ${path}/messages` as const,
  input: z
    .object({ ...pathOf(fields), ...draft, client_msg_id: ClientId.optional(), senderAddress: CallerAddress })
    .transform(({ id, userAddress, ...rest }) => ({ room: ref(id ?? ''), ...rest })),
  answer: asMessage,
}))

export const editAliases = roomPaths.map(({ path, ref }) => ({
  http: `PATCH ${path}/messages/:messageId` as const,
  input: z
    .object({
      id: RoomId.optional(),
      messageId: Id,
      content: Content,
      mentions: Mentions,
      blobs: Blobs,
      attachments: NoAttachments,
      version: count(1, 1_000_000).optional(),
      client_action_id: ClientId.optional(),
      userAddress: CallerAddress,
    })
    .transform(({ id, messageId, content, userAddress, ...rest }) => ({
      room: ref(id ?? ''),
      id: messageId,
      text: content,
      ...rest,
    })),
  answer: asMessage,
}))

export const removeAliases = roomPaths.map(({ path, ref }) => ({
  http: `DELETE ${path}/messages/:messageId` as const,
  input: z
    .object({
      id: RoomId.optional(),
      messageId: Id,
      reason: text(500).optional(),
      client_action_id: ClientId.optional(),
      userAddress: CallerAddress,
    })
    .transform(({ id, messageId, userAddress, ...rest }) => ({ room: ref(id ?? ''), id: messageId, ...rest })),
  answer: succeeded,
}))

export const reactAliases = roomPaths.map(({ path, ref, fields }) => ({
  http: `PATCH ${path}/messages` as const,
  input: z
    .object({
      ...pathOf(fields),
      messageId: Id,
      emoji: Sign,
      client_action_id: ClientId.optional(),
    })
    .transform(({ id, messageId, userAddress, ...rest }) => ({ room: ref(id ?? ''), id: messageId, ...rest })),
  answer: {
    schema: z.object({ action: z.enum(['added', 'removed']) }),
    of: ({ on }: { on: boolean }) => ({ action: on ? 'added' : 'removed' }),
  },
}))

export const reactionsAliases = [
  {
    http: 'GET /api/channels/:id/reactions',
    input: z
      .object({
        id: RoomId,
        messageIds: z.string().max(4_000).optional(),
        message_id: Id.optional(),
        userAddress: CallerAddress,
      })
      .transform(({ id, messageIds, message_id }) => ({
        room: channelRef(id),
        messageIds: messageIds ?? message_id ?? '',
      })),
  },
] as const

const isOfGroups = (path: string) => path === '/api/groups/:id'
/** Where a kind of room has its pins: groups beside their messages, others below them. */
const pinsPath = (path: string) => (isOfGroups(path) ? `${path}/pin` : `${path}/messages/pin`) as `/${string}`

const Pinned = z.object({
  success: z.literal(true),
  messageId: z.string(),
  isPinned: z.boolean(),
  pinnedBy: z.string().nullable(),
})
const pinnedAs = ({ message }: { message: Message }) => ({
  success: true,
  messageId: message.id,
  isPinned: message.is_pinned,
  pinnedBy: message.pinned_by,
})
/** Groups say `pinned` as well. */
const pinnedInGroup = {
  schema: Pinned.extend({ pinned: z.boolean() }),
  of: (answer: { message: Message }) => ({ ...pinnedAs(answer), pinned: answer.message.is_pinned }),
}

export const pinAliases = roomPaths.map(({ path, ref, fields }) => ({
  http: `POST ${pinsPath(path)}` as const,
  input: z
    .object({
      ...pathOf(fields),
      messageId: Id,
      pin: z.boolean(),
      client_action_id: ClientId.optional(),
    })
    .transform(({ id, messageId, pin, userAddress, ...rest }) => ({
      room: ref(id ?? ''),
      id: messageId,
      pinned: pin,
      ...rest,
    })),
  answer: isOfGroups(path) ? pinnedInGroup : { schema: Pinned, of: pinnedAs },
}))

const Pins = z.object({ pinnedMessages: z.array(Message) })
/** Groups list who pinned what as well. */
const pinsOfGroup = {
  schema: Pins.extend({
    pinned: z.array(z.object({ messageId: z.string(), pinnedBy: z.string().nullable(), pinnedAt: Time.nullable() })),
  }),
  of: ({ pinnedMessages }: z.infer<typeof Pins>) => ({
    pinned: pinnedMessages.map(({ id, pinned_by, pinned_at }) => ({
      messageId: id,
      pinnedBy: pinned_by,
      pinnedAt: pinned_at,
    })),
    pinnedMessages,
  }),
}

export const pinsAliases = roomPaths.map(({ path, ref, fields }) => ({
  http: `GET ${pinsPath(path)}` as const,
  input: z.object(pathOf(fields)).transform(({ id }) => ({ room: ref(id ?? '') })),
  ...(isOfGroups(path) ? { answer: pinsOfGroup } : {}),
}))

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
