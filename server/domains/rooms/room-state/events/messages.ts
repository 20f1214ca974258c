import { z } from 'zod'
import { defineEvent, patchList, setFact, targetOf } from '#server/domains/rooms/events/define'
import type { Row } from '#server/log/types'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'
import { agentMentionsIn, isAgent } from '#shared/kit/room-agents'
import { roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { keys, MessageBody, MessageFact, messageFactOf, type PurgeFact } from '../facts.ts'
import { messageOf, messageOfRow, pollOf } from '../rendered.ts'
import {
  deletionRewrite,
  editRewrite,
  flagOf,
  messageRewrite,
  patchMessage,
  purgeRewrite,
  unpinMessages,
} from './changes.ts'

export const messageCreated = defineEvent('message.created', {
  body: MessageBody.omit({ actor: true }),
  changes({ _id, room, sender, seq, n, at }, { mentions, flagged, text, poll }) {
    const changes = [setFact(keys.clock(sender), { at })]
    for (const { kind, id } of mentions) if (kind === 'user') changes.push(setFact(keys.mention(id, seq), { seq }))
    if (n === 1 && isBetweenTwo(roomOfKey(room).type)) changes.push(setFact(keys.conversation, { at }))
    if (!isAgent(sender) && (mentions.some(({ kind }) => kind === 'agent') || agentMentionsIn(text).length > 0))
      changes.push(setFact(keys.question(_id), { at }))
    if (flagged.length > 0) changes.push(setFact(keys.flag(_id), { words: flagged, content: text }))
    if (poll) changes.push(setFact(keys.poll(poll.poll_id), { ...poll, message_id: _id, message_seq: seq }))
    return changes
  },
  message: messageFactOf,
  data: (row, { poll, deleted }, room) => ({
    message: messageOfRow(row),
    ...(poll && !deleted ? { poll: pollOf(room, { ...poll, message_id: row._id }) } : {}),
  }),
})

/** The message after the edit. */
export const messageEdited = defineEvent('message.edited', {
  body: z.object({ id: z.string(), message: MessageFact }),
  changes: (row, { message }) => [
    patchMessage(message.id, editRewrite(row, message)),
    ...message.body.mentions.flatMap(({ kind, id: named }) =>
      kind === 'user' ? [setFact(keys.mention(named, message.seq), { seq: message.seq })] : [],
    ),
    ...flagOf(message),
  ],
  rewrites: (row, { id, message }) => ({ covers: messageRewrite(id).covers, ...editRewrite(row, message) }),
  message: (_row, { message }) => message,
  recounts: true,
  data: (_row, { message }, room) => ({ message: messageOf(room, message) }),
})

export const messageDeleted = defineEvent('message.deleted', {
  body: z.object({ id: z.string(), at: z.string(), poll_id: z.string().nullable() }),
  changes: (row, { id, at, poll_id }) => [
    patchMessage(id, deletionRewrite(row, at)),
    ...(poll_id === null ? [] : [setFact(keys.poll(poll_id), null)]),
    unpinMessages([id]),
  ],
  rewrites: (row, { id, at }) => ({ ...messageRewrite(id), ...deletionRewrite(row, at) }),
  data: ({ sender, reason }, { id, at }) => ({ id, deleted_by: sender, deleted_at: at, reason }),
  hidden: { deleted_by: '', reason: null },
  recounts: true,
  entry: { action: () => 'delete' },
})

/** After this many purges of a person, the oldest is long applied to the messages. */
const maxPurges = 500

/** Rows of older versions have no `unpinned`. */
export const messagesPurged = defineEvent('messages.purged', {
  body: z.object({
    from_seq: z.number(),
    to_seq: z.number(),
    by: z.string(),
    at: z.string(),
    reason: z.string().nullable(),
    count: z.number(),
    unpinned: z.array(z.string()).optional(),
  }),
  changes: ({ target }, { unpinned = [], from_seq, to_seq, by, at, reason }) => [
    patchList<PurgeFact>(keys.purges(target ?? ''), (purges) => [
      ...purges.slice(1 - maxPurges),
      { from_seq, to_seq, by, at, reason },
    ]),
    unpinMessages(unpinned),
  ],
  rewrites: ({ target }, purge) => purgeRewrite(target, purge),
  data: (row, body) => {
    const { from_seq, to_seq, count, at } = body
    return { target: targetOf(row, body), from_seq, to_seq, count, deleted_at: at, reason: row.reason }
  },
  hidden: { reason: null },
  recounts: true,
  entry: { action: () => 'purge', metadata: (_row, { from_seq, to_seq, count }) => ({ from_seq, to_seq, count }) },
})

export const messagePinned = defineEvent('message.pinned', {
  body: z.object({ id: z.string(), at: z.string() }),
  changes: (row, { id, at }) => [
    patchMessage(id, pinned(row, at)),
    patchList<string>(keys.pins, (pins) => [id, ...pins.filter((pin) => pin !== id)]),
  ],
  rewrites: (row, { id, at }) => ({ covers: messageRewrite(id).covers, ...pinned(row, at) }),
  data: ({ sender }, { id, at }) => ({ id, pinned_by: sender, pinned_at: at }),
  entry: { action: () => 'pin' },
})

const pinned = ({ sender }: Row, at: string) => ({
  next: (body: MessageBody): MessageBody => ({ ...body, pinned: { by: sender, at } }),
})

const unpinned = { next: (body: MessageBody): MessageBody => ({ ...body, pinned: null }) }

export const messageUnpinned = defineEvent('message.unpinned', {
  body: z.object({ id: z.string() }),
  changes: (_row, { id }) => [patchMessage(id, unpinned), unpinMessages([id])],
  rewrites: (_row, { id }) => ({ covers: messageRewrite(id).covers, ...unpinned }),
  data: (_row, { id }) => ({ id }),
  entry: { action: () => 'unpin' },
})

export const reactionChanged = defineEvent('reaction.changed', {
  body: z.object({
    id: z.string(),
    emoji: z.string(),
    on: z.boolean(),
    counts: z.record(z.string(), z.number()),
    mine: z.array(z.object({ id: z.string(), emoji: z.string(), at: z.string() })),
  }),
  changes: ({ sender }, { id, counts, mine }) => [
    patchMessage(id, counted(counts)),
    setFact(keys.reacted(id, sender), { emojis: mine }),
  ],
  rewrites: (_row, { id, counts }) => ({ covers: messageRewrite(id).covers, ...counted(counts) }),
  data: (_row, { id, emoji, on, counts }) => ({ id, emoji: signForm(emoji), on, counts: countsBySign(counts) }),
})

const counted = (reactions: { [emoji: string]: number }) => ({
  next: (body: MessageBody): MessageBody => ({ ...body, reactions }),
})
