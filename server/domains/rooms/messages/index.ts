import { isDeepStrictEqual } from 'node:util'
import { withKeptFiles } from '#server/domains/media/files/claims'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import { keysOf, namedFiles } from '#server/domains/moderation/verdict/content'
import { deceptionBy } from '#server/domains/people/accounts/names'
import { keyOf } from '#server/domains/rooms/room-state/access'
import {
  messageEdited,
  messagePinned,
  messageUnpinned,
  reactionChanged,
} from '#server/domains/rooms/room-state/events/messages'
import {
  type MessageBody,
  type MessageFact,
  messageIn,
  muteIn,
  pinsIn,
  reactedIn,
  sealingOf,
} from '#server/domains/rooms/room-state/facts'
import { acceptedVerdict, judgeChange, refuseRemark } from '#server/domains/rooms/room-state/judge-draft'
import { isKnownRoom, kindOf } from '#server/domains/rooms/room-state/kinds'
import { messageOf } from '#server/domains/rooms/room-state/rendered'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, type Actions, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { directMessageOf, directReactionOf } from '#shared/api/rooms/direct-messages'
import { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { isInClear } from '#shared/kit/clear-types'
import { dmOf, done, type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'
import { conversationIdOf, dmOfConversation, peersOf } from '#shared/kit/room-key'
import { isBetweenTwo, sealedBy } from '#shared/kit/room-kinds'
import { follow, sync } from './catch-up.ts'
import { draftOf, draftOfBody, movedSpans } from './drafts.ts'
import { history, pageOf, pins, reactions } from './history.ts'
import { join, leave } from './listen.ts'
import { followRooms, greetConnection, startHeads } from './live.ts'
import { quoteNow } from './pages.ts'
import { followPresence, presence, presenceOf, setTyping, typing } from './presence.ts'
import { markRead, read, readMessage, receipts, seqOfMessage } from './reads.ts'
import { presentMessage, remove, removeById, removingPurged, roomKeyOfMessage, touchableMessage } from './removals.ts'
import { expireMessages, planExpiryOf } from './retention.ts'
import { followSearch, search } from './search.ts'
import { check, send, sendTo } from './send.ts'
import { sealedTextCheck, sharedKeyHistory } from './shared-key.ts'

const editMilliseconds = 15 * 60_000

const edit: Action<typeof contract.edit> = (input, context) => editMessage(context, input)

type Edit = Parameters<typeof edit>[0]

/** Changes the caller's message; the text has two spellings. */
async function editMessage(
  context: Context,
  {
    room,
    id,
    version,
    text,
    content,
    mentions,
    blobs,
    client_action_id,
  }: Omit<Edit, 'text'> & { text?: string | undefined; content?: string | undefined },
) {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const { node } = context
  const draft = draftOf({ text, content, mentions, blobs }, sealedBy(room))
  const { text: clean } = draft
  const sealingErrorIn = await sealedTextCheck(node, key, account, draft)
  const storage = { publicUrl: node.settings.storageUrl, sender: account }
  const isSaying = (body: MessageBody) =>
    body.text === clean && (!mentions || isDeepStrictEqual(body.mentions, draft.mentions))
  let before: readonly string[] = []
  const act = (missing: ReadonlySet<string>) =>
    node.log.act(key, {
      sender: account,
      cid: client_action_id,
      makes: messageEdited,
      // A deleted message has no text to compare, and sealed text differs each time.
      isRepeat: (_row, { id: edited, message: { body } }) =>
        edited === id &&
        (version === undefined || body.version === version + 1) &&
        (sealedBy(room) !== null || body.text === '' || isSaying(body)),
      judge: (view, now) => {
        const message = presentMessage(touchableMessage(view, account, id, now))
        const { reply_to } = message.body
        const quote = quoteNow(message, reply_to && messageIn(view, reply_to.id))
        const sealingError = sealingErrorIn(view)
        refuseEdit(message, account, version, now)
        if (sealingError) throw sealingError
        const { poll: _, media: named = [], ...kept } = message.body
        before = named
        const changed = {
          ...kept,
          text: clean,
          reply_to: quote,
          mentions: mentions ? [...draft.mentions] : movedSpans(message.body.mentions, message.body.text, clean),
          // Content in clear, from before the room was sealed, is sealed now.
          ...(sealingOf(view) === 'shared-key' && { type: 'text', attachments: [], mentions: [], reply_to: null }),
        }
        const after = { ...draftOfBody(changed), blobs }
        const { flagged } = judgeChange(view, after, { node, account, now, missing })
        // Without a declaration, an edited sealed message may keep its files.
        const isUndeclared = sealingOf(view) !== null && blobs === undefined
        const body = {
          ...changed,
          ...(isUndeclared ? { ...(named.length > 0 && { media: named }) } : keysOf(namedFiles(after, storage))),
          flagged: flagged.map((hit) => hit.id),
          version: message.body.version + 1,
          edited_at: new Date(now).toISOString(),
        }
        return { accept: entryOf(view, actor, messageEdited, { id, message: { ...message, body } }) }
      },
    })
  const { row, body } = await withKeptFiles(node, account, namedFiles(draft, storage), act)
  const { message } = body
  await removeUnnamedFiles(
    node,
    before.filter((file) => !message.body.media?.includes(file)),
  )
  return { message: messageOf(roomOfKey(key), message), verdict: acceptedVerdict(row.seq - 1) }
}

function refuseEdit(
  { sender, body, at }: MessageFact,
  account: string,
  version: number | undefined,
  now: number,
): void {
  if (!isSameAccount(sender, account))
    throw new AppError('FORBIDDEN', { message: 'You may only edit messages of your own' })
  if (isInClear(body.type))
    throw new AppError('INVALID_PARAMETER', { message: 'What many were told at once is not changed' })
  if (body.poll_id !== null)
    throw new AppError('INVALID_PARAMETER', { message: 'The question of a poll is changed with its poll' })
  if (version !== undefined && version !== body.version)
    throw new AppError('CONFLICT', { message: 'The message was changed since', details: { version: body.version } })
  if (now - at > editMilliseconds) throw new AppError('EDIT_WINDOW_CLOSED')
}

const maxEmojis = 20

const react: Action<typeof contract.react> = (input, context) => reactTo(context, input)

type Reaction = Parameters<typeof react>[0]

/** Adds or removes the caller's reaction, or toggles it. */
async function reactTo(context: Context, { room, id, emoji, on, client_action_id }: Reaction) {
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
      const message = presentMessage(touchableMessage(view, account, id, now))
      if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
      // Older versions stored several forms of a sign, and so several reactions of one person.
      const others = mine.filter((one) => signForm(one.emoji) !== emoji)
      const had = mine.length - others.length
      isOn = on ?? had === 0
      counts = countsBySign(message.body.reactions)
      if (had > 0 === isOn) return { already: null }
      if (isOn) {
        refuseDeception(emoji)
        refuseRemark(view, emoji, { node: context.node, account, now })
      }
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

/** A reaction's text is displayed beside others, as a name is. */
function refuseDeception(emoji: string): void {
  const deception = /\p{L}/u.test(emoji) ? deceptionBy(emoji) : null
  if (deception)
    throw new AppError('VALIDATION_ERROR', {
      message: `This reaction is not allowed. ${deception}`,
      details: { path: 'emoji' },
    })
}

function withCount(counts: { [emoji: string]: number }, emoji: string, value: number): { [emoji: string]: number } {
  const { [emoji]: _, ...rest } = counts
  return value > 0 ? { ...counts, [emoji]: value } : rest
}

/** The caller's conversation, named by its other person or its id. */
function conversationNamed(
  account: string,
  { peer, conversationId }: { peer?: string | undefined; conversationId?: string | undefined },
): RoomRef {
  const byId = conversationId === undefined ? undefined : dmOfConversation(conversationId, account)
  if (byId === null) throw new AppError('ROOM_NOT_FOUND')
  const byPeer = peer === undefined ? undefined : dmOf(account, peer)
  if (byId && byPeer && byId.id !== byPeer.id)
    throw namingError('conversationId: the conversation with somebody else than `peer`')
  const room = byId ?? byPeer
  if (!room) throw namingError('peer: whose conversation with you it is, or its conversationId')
  return room
}

/** The caller's conversation that contains a message; other messages are not found. */
async function conversationOf(account: string, messageId: string): Promise<RoomRef> {
  const key = await roomKeyOfMessage(messageId)
  const room = roomOfKey(key)
  const isTheirs = isKnownRoom(key) && isBetweenTwo(room.type) && peersOf(room.id).includes(account)
  if (!isTheirs) throw new AppError('MESSAGE_NOT_FOUND')
  return room
}

const namingError = (message: string) => new AppError('VALIDATION_ERROR', { message })

const directHistory: Action<typeof contract.directHistory> = async (input, context) => {
  const { userAddress: _, peer, conversationId, ...bounds } = input
  const room = conversationNamed(signedIn(context).account, { peer, conversationId })
  const { messages, reactions, has_more } = await pageOf(context, { room, ...bounds })
  const conversation = conversationIdOf(room)
  return {
    messages: messages.map(directMessageOf),
    reactions: reactions.map((reaction) => directReactionOf(conversation, reaction)),
    hasMore: has_more,
  }
}

const directSend: Action<typeof contract.directSend> = async (input, context) => {
  const { recipientAddress, encryptedContent: text, messageId: client_msg_id, ...fields } = input
  const room = dmOf(signedIn(context).account, recipientAddress)
  const { message, duplicate } = await sendTo(context, { ...fields, room, text, client_msg_id })
  return { ...done, message: directMessageOf(message), ...(duplicate ? { duplicate } : {}) }
}

const directEdit: Action<typeof contract.directEdit> = async (input, context) => {
  const { encryptedContent: text, ...fields } = input
  const room = await conversationOf(signedIn(context).account, input.id)
  const { message } = await editMessage(context, { ...fields, room, text })
  return { ...done, message: directMessageOf(message) }
}

const directReact: Action<typeof contract.directReact> = async (input, context) => {
  const room = await conversationOf(signedIn(context).account, input.id)
  const { on, counts } = await reactTo(context, { ...input, room })
  return { ...done, action: on ? 'added' : 'removed', counts }
}

const directRead: Action<typeof contract.directRead> = async ({ messageId, ...input }, context) => {
  const { account } = signedIn(context)
  const isNamed = input.peer !== undefined || input.conversationId !== undefined || messageId === undefined
  const room = isNamed ? conversationNamed(account, input) : await conversationOf(account, messageId)
  await markRead(context, room, messageId === undefined ? ({ seq }) => seq : seqOfMessage(messageId))
  return done
}

const directTyping: Action<typeof contract.directTyping> = async ({ isTyping = true, ...input }, context) => {
  await setTyping(context, conversationNamed(signedIn(context).account, input), isTyping)
  return done
}

const maxPins = 50

const pin: Action<typeof contract.pin> = async ({ room, id, pinned, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  return pinMessage(context, key, account, id, pinned, client_action_id)
}

export async function pinMessage(
  { node }: Context,
  key: string,
  account: string,
  id: string,
  pinned: boolean,
  cid?: string,
) {
  const actor = await actorOf(node, account)
  if (!pinned) await planExpiryOf(node, key, id)
  const outcome = await node.log.act(key, {
    sender: account,
    cid,
    makes: pinned ? messagePinned : messageUnpinned,
    isRepeat: (_row, body) => body.id === id,
    judge: (view, now) => {
      const pins = pinsIn(view)
      const touched = touchableMessage(view, account, id, now)
      const message = presentMessage(touched)
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

const actions: Actions<typeof contract> = {
  join,
  leave,
  sync,
  follow,
  history,
  search,
  send,
  check,
  edit,
  remove,
  removeById,
  react,
  reactions,
  directHistory,
  directSend,
  directEdit,
  directReact,
  directRead,
  directTyping,
  pin,
  pins,
  sharedKeyHistory,
  read,
  typing,
  presence,
  presenceOf,
  receipts,
  readMessage,
}

export const messages = defineDomain(contract, actions, {
  jobs: [expireMessages, removingPurged],
  connected: { '/rooms': greetConnection },
  start(node) {
    followRooms(node)
    return [startHeads(node), followPresence(node), followSearch(node)]
  },
})
