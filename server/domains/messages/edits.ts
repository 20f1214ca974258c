import { isDeepStrictEqual } from 'node:util'
import { withFiles } from '#server/domains/files/claims'
import { removeUnnamed } from '#server/domains/files/removal'
import { isBarred, keyOf, readBy } from '#server/domains/room-state/access'
import { actorOf, entryOf } from '#server/domains/room-state/entries'
import {
  messageDeleted,
  messageEdited,
  messagePinned,
  messageUnpinned,
  reactionChanged,
} from '#server/domains/room-state/events/messages'
import {
  type MessageBody,
  type MessageFact,
  messageIn,
  muteIn,
  pinsIn,
  reactedIn,
  sealingOf,
} from '#server/domains/room-state/facts'
import { kindOf } from '#server/domains/room-state/kinds'
import { messageOf } from '#server/domains/room-state/shown'
import { isSuspended, type Standing, standingOf } from '#server/domains/room-state/standing'
import { acceptedAt, refuseChange, refuseRemark, stateOf } from '#server/domains/room-state/state'
import { keysOf, namedFiles } from '#server/domains/verdict/named-files'
import { type Action, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { RoomEvents } from '#server/log/model'
import type { RoomKey, View } from '#server/log/types'
import type { messages as contract } from '#shared/api/messages'
import { AppError } from '#shared/errors'
import { done, roomOfKey } from '#shared/kit/primitives'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'
import { sealedBy } from '#shared/kit/room-kinds'
import { draftOf, draftOfBody } from './drafts.ts'
import { movedSpans } from './mention-spans.ts'
import { quoteNow } from './quotes.ts'
import { sealedFault } from './sealed.ts'

const editMilliseconds = 15 * 60_000
const maxPins = 50
const maxEmojis = 20

interface Touched {
  message: MessageFact
  standing: Standing
}

/** The message a client named, if this member may write to its room. Throws otherwise. */
export function touchable(view: View, account: string, id: string, now: number): Touched {
  const message = messageIn(view, id)
  const { room, standing } = readBy(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  if (isBarred(view)) throw new AppError('BLOCKED')
  if (!standing?.isMember && !standing?.isModerator) throw new AppError('NOT_A_MEMBER')
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return { message, standing }
}

const present = ({ message }: Touched): MessageFact => {
  if (message.body.deleted) throw new AppError('MESSAGE_NOT_FOUND')
  return message
}

export const edit: Action<typeof contract.edit> = async (
  { room, id, version, text, mentions, blobs, client_action_id },
  context,
) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const { node } = context
  const draft = draftOf({ text, mentions, blobs }, sealedBy(room))
  const { text: clean } = draft
  const fault = await sealedFault(node, key, account, draft)
  const storage = { publicUrl: node.settings.storageUrl, sender: account }
  const isSaying = (body: MessageBody) =>
    body.text === clean && (!mentions || isDeepStrictEqual(body.mentions, draft.mentions))
  let before: readonly string[] = []
  const act = (missing: ReadonlySet<string>) =>
    node.log.act(key, {
      sender: account,
      cid: client_action_id,
      makes: messageEdited,
      // Of what was deleted since, no text is left; what is sealed reads otherwise each time.
      isRepeat: (_row, { id: edited, message: { body } }) =>
        edited === id &&
        (version === undefined || body.version === version + 1) &&
        (sealedBy(room) !== null || body.text === '' || isSaying(body)),
      judge: (view, now) => {
        const message = present(touchable(view, account, id, now))
        const { reply_to } = message.body
        const quote = quoteNow(message, reply_to && messageIn(view, reply_to.id))
        const stale = fault(view)
        if (message.sender !== account)
          throw new AppError('FORBIDDEN', { message: 'You may only edit messages of your own' })
        if (message.body.poll_id !== null)
          throw new AppError('INVALID_PARAMETER', { message: 'The question of a poll is changed with its poll' })
        if (version !== undefined && version !== message.body.version)
          throw new AppError('CONFLICT', {
            message: 'The message was changed since',
            details: { version: message.body.version },
          })
        if (now - message.at > editMilliseconds) throw new AppError('EDIT_WINDOW_CLOSED')
        if (stale) throw stale
        const { poll: _, media: named = [], ...kept } = message.body
        before = named
        const changed = {
          ...kept,
          text: clean,
          reply_to: quote,
          mentions: mentions ? [...draft.mentions] : movedSpans(message.body.mentions, message.body.text, clean),
          // What was said in clear, before rooms with a shared key were sealed, is inside from now on.
          ...(sealingOf(view) === 'shared-key' && { type: 'text', attachments: [], mentions: [], reply_to: null }),
        }
        const state = stateOf(view, account, now, node, standingOf(view, account), missing)
        const after = { ...draftOfBody(changed), blobs }
        const { flagged } = refuseChange(after, state)
        // Whoever edits a sealed text and does not say what it names may still name what it named before.
        const isUntold = state.sealed && blobs === undefined
        const body = {
          ...changed,
          ...(isUntold ? { ...(named.length > 0 && { media: named }) } : keysOf(namedFiles(after, storage))),
          flagged: flagged.map((hit) => hit.id),
          version: message.body.version + 1,
          edited_at: new Date(now).toISOString(),
        }
        return { accept: entryOf(view, actor, messageEdited, { id, message: { ...message, body } }) }
      },
    })
  const { row, body } = await withFiles(node, account, namedFiles(draft, storage), act)
  const { message } = body
  await removeUnnamed(
    node,
    before.filter((file) => !message.body.media?.includes(file)),
  )
  return { message: messageOf(roomOfKey(key), message), verdict: acceptedAt(row.seq - 1) }
}

export const remove: Action<typeof contract.remove> = async ({ room, id, reason, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const outcome = await removeMessage(context, key, account, id, reason ?? null, client_action_id)
  return { seq: outcome.row?.seq ?? outcome.view.seq }
}

/** Where a message is; whether its caller may know of it is judged there. */
async function roomOfMessage(id: string): Promise<RoomKey> {
  const row = await RoomEvents.findOne({ _id: id, n: { $exists: true } }, { room: 1 }).lean<{ room: RoomKey }>()
  if (!row) throw new AppError('MESSAGE_NOT_FOUND')
  return row.room
}

export const removeById: Action<typeof contract.removeById> = async ({ messageId }, context) => {
  const { account } = signedIn(context)
  const key = await roomOfMessage(messageId)
  // Whoever may not know of the room learns no more than that there is no such message.
  const unseen = (error: unknown) =>
    error instanceof AppError && error.code === 'ROOM_NOT_FOUND' ? new AppError('MESSAGE_NOT_FOUND') : error
  await removeMessage(context, key, account, messageId, null).catch((error: unknown) => {
    throw unseen(error)
  })
  return done
}

export async function removeMessage(
  { node }: Parameters<typeof edit>[1],
  key: string,
  account: string,
  id: string,
  reason: string | null,
  cid?: string,
) {
  const actor = await actorOf(node, account)
  let named: readonly string[] = []
  const outcome = await node.log.act(key, {
    sender: account,
    cid,
    makes: messageDeleted,
    isRepeat: (row, body) => body.id === id && row.reason === reason,
    judge: (view, now) => {
      const { message, standing } = touchable(view, account, id, now)
      named = message.body.media ?? []
      if (message.sender !== account && !standing.canDelete)
        throw new AppError('FORBIDDEN', { message: 'You may not delete this message' })
      if (message.body.deleted) return { already: null }
      if (reason !== null && message.sender === account) refuseRemark(reason, stateOf(view, account, now, node))
      const body = { id, at: new Date(now).toISOString(), poll_id: message.body.poll_id }
      return {
        accept: entryOf(view, actor, messageDeleted, body, {
          target: message.sender,
          targetName: message.body.actor.name,
          reason,
        }),
      }
    },
  })
  await removeUnnamed(node, named)
  return outcome
}

export const react: Action<typeof contract.react> = async ({ room, id, emoji, on, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  let counts: { [emoji: string]: number } = {}
  let isOn = on ?? true
  const outcome = await context.node.log.act(key, {
    sender: account,
    cid: client_action_id,
    makes: reactionChanged,
    isRepeat: (_row, body) => body.id === id && signForm(body.emoji) === emoji && (on ?? body.on) === body.on,
    judge: (view, now) => {
      const mine = reactedIn(view, id, account)?.emojis ?? []
      const mute = muteIn(view, account, now)
      const message = present(touchable(view, account, id, now))
      if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
      // Older versions stored a sign in several forms, and so several of one from one person.
      const others = mine.filter((one) => signForm(one.emoji) !== emoji)
      const had = mine.length - others.length
      isOn = on ?? had === 0
      counts = countsBySign(message.body.reactions)
      if (had > 0 === isOn) return { already: null }
      if (isOn) refuseRemark(emoji, stateOf(view, account, now, context.node))
      if (isOn && !(emoji in counts) && Object.keys(counts).length >= maxEmojis)
        throw new AppError('CONFLICT', { message: `A message takes at most ${maxEmojis} different reactions` })
      counts = withCount(counts, emoji, (counts[emoji] ?? 0) + (isOn ? 1 : -had))
      const at = new Date(now).toISOString()
      const after = isOn ? [...others, { id: newId(), emoji, at }] : others
      return { accept: entryOf(view, actor, reactionChanged, { id, emoji, on: isOn, counts, mine: after }) }
    },
  })
  if (!outcome.row) return { counts, on: isOn, seq: outcome.view.seq }
  return { counts: countsBySign(outcome.body.counts), on: outcome.body.on, seq: outcome.row.seq }
}

function withCount(counts: { [emoji: string]: number }, emoji: string, value: number): { [emoji: string]: number } {
  const { [emoji]: _, ...rest } = counts
  return value > 0 ? { ...counts, [emoji]: value } : rest
}

export const pin: Action<typeof contract.pin> = async ({ room, id, pinned, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  return pinMessage(context, key, account, id, pinned, client_action_id)
}

export async function pinMessage(
  { node }: Parameters<typeof edit>[1],
  key: string,
  account: string,
  id: string,
  pinned: boolean,
  cid?: string,
) {
  const actor = await actorOf(node, account)
  const outcome = await node.log.act(key, {
    sender: account,
    cid,
    makes: pinned ? messagePinned : messageUnpinned,
    isRepeat: (_row, body) => body.id === id,
    judge: (view, now) => {
      const pins = pinsIn(view)
      const touched = touchable(view, account, id, now)
      const message = present(touched)
      if (!touched.standing.canPin && kindOf(key).hasModerators)
        throw new AppError('FORBIDDEN', { message: 'You may not pin messages here' })
      if ((message.body.pinned !== null) === pinned) return { already: null }
      if (pinned && pins.length >= maxPins)
        throw new AppError('CONFLICT', { message: `A room holds at most ${maxPins} pins` })
      const about = { target: message.sender, targetName: message.body.actor.name }
      if (!pinned) return { accept: entryOf(view, actor, messageUnpinned, { id }, about) }
      return { accept: entryOf(view, actor, messagePinned, { id, at: new Date(now).toISOString() }, about) }
    },
  })
  const message = await node.log.ask(key, (view) => messageIn(view, id))
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return {
    seq: outcome.row?.seq ?? outcome.view.seq,
    message: messageOf(roomOfKey(key), message),
    row: outcome.row,
    pendingNodes: outcome.row ? outcome.pendingNodes : 0,
  }
}
