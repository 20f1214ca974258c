import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, ClientId, Done, Id, Moment, maybe, pageSize, Time } from '#shared/kit/primitives'
import { conversationIdOf, peerIn } from '#shared/kit/room-key'
import { AnyType, Blobs, Content, cursor, type Message, NoAttachments, type Reaction, Sign } from './message.ts'

/** A direct message, as the documented paths have it. */
const DirectMessage = z.object({
  message_id: z.string(),
  /** What a page is read on by: `before_seq`, `after_seq`. */
  seq: z.number().int(),
  /** The `messageId` that it was sent with. What is sealed by an epoch opens by it alone. */
  client_msg_id: z.string(),
  /** `/plaza/1/dm/<one account>-<the other>/proto`, in the order of their ids. */
  conversation_id: z.string(),
  sender_address: z.string(),
  recipient_address: z.string().nullable(),
  group_id: z.null(),
  /** The sent ciphertext. Messages of the types `system` and `welcome` are in clear; deleted ones are `[Message deleted]`. */
  encrypted_content: z.string(),
  message_type: z.string(),
  sent_at: Time,
  reply_to_id: z.string().nullable(),
  is_edited: z.boolean(),
  edited_at: Time.nullable(),
  is_deleted: z.boolean(),
})
type DirectMessage = z.infer<typeof DirectMessage>

export const directMessageOf = (message: Message): DirectMessage => {
  const { id, seq, client_msg_id, room, sender_address, content, message_type, created_at, reply_to_id } = message
  const { is_edited, edited_at, is_deleted } = message
  return {
    ...{ message_id: id, seq, client_msg_id, conversation_id: conversationIdOf(room) },
    ...{ sender_address, recipient_address: peerIn(room, sender_address), group_id: null },
    ...{ encrypted_content: content, message_type, sent_at: created_at, reply_to_id, is_edited, edited_at, is_deleted },
  }
}

const DirectReaction = z.object({
  message_id: z.string(),
  conversation_id: z.string(),
  user_address: z.string(),
  emoji: z.string(),
  created_at: Time,
})

export const directReactionOf = (conversation_id: string, reaction: z.infer<typeof Reaction>) => {
  const { message_id, user_address, emoji, created_at } = reaction
  return { message_id, conversation_id, user_address, emoji, created_at }
}

const ConversationId = z
  .string()
  .max(400)
  .regex(/^\/plaza\/1\/\w+\/[A-Za-z0-9:_.-]+\/proto$/, { error: 'Invalid conversation id' })

/** A conversation of the caller. */
const conversation = {
  userAddress: CallerAddress,
  /** The other person. */
  peer: maybe(Address),
  /** The same by its id, as rows have it. One of the two is required. */
  conversationId: maybe(ConversationId),
}
/** The content; one of both names is required. The server accepts ciphertext alone. */
const said = { content: maybe(Content), encryptedContent: maybe(Content), blobs: Blobs }

/** Of `messages`: direct messages by the documented paths. What they do is done by the operations of all rooms. */
export const directMessages = {
  directHistory: operation({
    summary: 'A page of the conversation with somebody, oldest first; empty where nobody has written yet.',
    http: 'GET /api/messages',
    access: 'user',
    limit: 'messaging',
    cost: { messages: 50 },
    errorBody: 'text',
    input: z.object({ ...conversation, ...cursor, limit: pageSize(100, 50), before: maybe(Moment) }),
    output: z.object({
      messages: z.array(DirectMessage),
      reactions: z.array(DirectReaction),
      /** Whether the bounds leave more: after the page where it has a lower bound, else before it. */
      hasMore: z.boolean(),
    }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  directSend: operation({
    summary: 'Send somebody a direct message, which is sealed by who sends it, as `send` does.',
    http: 'POST /api/messages',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: { key: 'messageId', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      senderAddress: CallerAddress,
      recipientAddress: Address,
      ...said,
      messageType: maybe(AnyType),
      replyToId: maybe(Id),
      /** The sender's own id of the message, by which it is stored once (`client_msg_id`). The server names it by another. */
      messageId: maybe(ClientId),
    }),
    output: z.object({ success: z.literal(true), message: DirectMessage, duplicate: z.boolean().optional() }),
    errors: ['ROOM_NOT_FOUND', 'BLOCKED', 'READ_ONLY', 'USER_NOT_FOUND'],
  }),
  directEdit: operation({
    summary: 'Change what a direct message of your own says, within 15 minutes, as `edit` does.',
    http: 'PATCH /api/messages/:id',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      ...said,
      attachments: NoAttachments,
      client_action_id: ClientId.optional(),
    }),
    output: z.object({ success: z.literal(true), message: DirectMessage }),
    errors: ['MESSAGE_NOT_FOUND', 'BLOCKED', 'EDIT_WINDOW_CLOSED'],
  }),
  directReact: operation({
    summary:
      'Put a reaction on a direct message, or take it off; without `on`, whichever of the two changes something.',
    http: 'POST /api/messages/:id/reactions',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      emoji: Sign,
      on: maybe(z.boolean()),
      client_action_id: ClientId.optional(),
    }),
    output: z.object({
      success: z.literal(true),
      action: z.enum(['added', 'removed']),
      counts: z.record(z.string(), z.number().int()),
    }),
    errors: ['MESSAGE_NOT_FOUND', 'BLOCKED'],
  }),
  directRead: operation({
    summary:
      'Mark the conversation with somebody as read: up to a message, or all of it. It never goes back. With a `messageId` neither `peer` nor `conversationId` is needed.',
    http: 'POST /api/messages/read',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    repeat: 'harmless',
    whileSuspended: 'protects',
    input: z.object({ ...conversation, messageId: maybe(Id) }),
    output: Done,
    errors: ['ROOM_NOT_FOUND', 'MESSAGE_NOT_FOUND'],
  }),
  directTyping: operation({
    summary: 'Say that you are typing to somebody, or with `isTyping: false` not any more. Forgotten after 6 seconds.',
    http: 'POST /api/messages/typing',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    repeat: 'harmless',
    input: z.object({ ...conversation, isTyping: maybe(z.boolean()) }),
    output: Done,
    errors: ['ROOM_NOT_FOUND', 'BLOCKED'],
  }),
}
