import { z } from 'zod'
import { Verdict } from '#shared/api/moderation/verdict'
import { CallerAddress, ClientId, count, Done, Id, Moment, pageSize, Time, text } from '#shared/kit/primitives'
import { Message, Reaction } from './message.ts'
import { Blobs, Content, cursor, draft, Mentions, Sign } from './message-draft.ts'
import { channelRef, pathOf, RoomId, roomPaths } from './room-paths.ts'

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
