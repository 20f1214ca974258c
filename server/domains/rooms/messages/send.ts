import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { missingFiles, withKeptFiles } from '#server/domains/media/files/claims'
import { keysOf, namedFiles, textDraft } from '#server/domains/moderation/verdict/content'
import type { MessageDraft, Ruling } from '#server/domains/moderation/verdict/verdict'
import { isGoneAccount, refuseGone, refuseNewContact } from '#server/domains/people/accounts/found'
import { refusalOfContact } from '#server/domains/people/friends/pairs'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { type MessageBody, messageIn } from '#server/domains/rooms/room-state/facts'
import { acceptedVerdict, capabilitiesOf, judgeDraft, refusalOf } from '#server/domains/rooms/room-state/judge-draft'
import { hasMessages } from '#server/domains/rooms/room-state/records'
import { messageOfRow } from '#server/domains/rooms/room-state/rendered'
import { displayNameOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import type { Json, Judgement, View } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { type Capabilities, capabilitiesChanged, rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import type { ClearType } from '#shared/kit/clear-types'
import { dmOf, roomKey, roomOfKey } from '#shared/kit/primitives'
import { peerIn } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import { draftOf, pollInputOf } from './drafts.ts'
import { quoteOf } from './pages.ts'
import { otherSealingError, sealedTextCheck } from './shared-key.ts'

export const send: Action<typeof contract.send> = (input, context) => sendTo(context, input)

/** Sends a message to a room, in any spelling. */
export async function sendTo(context: Context, input: Parameters<typeof send>[0]) {
  const { account } = signedIn(context)
  const key = await keyOf(input.room)
  const draft = draftOf(input, sealedBy(input.room))
  const sealingErrorIn = await sealedTextCheck(context.node, key, account, draft)
  const sharedKeyErrorIn = (view: View) =>
    otherSealingError(view) ?? (input.client_msg_id === undefined ? unboundError : sealingErrorIn(view))
  const extra = {
    cid: input.client_msg_id,
    sealingErrorIn: input.sealed_by ? sharedKeyErrorIn : sealingErrorIn,
  }
  const { message, duplicate, nextSendAt } = await sendDraft(context, key, account, draft, extra)
  return {
    message,
    verdict: acceptedVerdict(message.seq - 1),
    ...(duplicate ? { duplicate } : {}),
    next_send_at: nextSendAt === null ? null : new Date(nextSendAt).toISOString(),
  }
}

interface DraftExtras {
  cid?: string | undefined
  /** The refusal of a sealed text, if the room's state now forbids it. */
  sealingErrorIn?: ((view: View) => AppError | null) | undefined
  /** A poll in the same row. */
  poll?: (at: number) => { id: string; poll: Json }
}

/** Judges and appends in one step; every operation that posts ends here. */
export async function sendDraft(
  { node, emit }: Pick<Context, 'node' | 'emit'>,
  key: string,
  account: string,
  draft: MessageDraft,
  { cid, poll, sealingErrorIn }: DraftExtras = {},
) {
  await refuseUnreachablePeer(node, key, account)
  const name = await displayNameOf(node, account)
  const files = namedFiles(draft, { publicUrl: node.settings.storageUrl, sender: account })
  let ruling: Ruling | null = null
  const act = (missing: ReadonlySet<string>) =>
    node.log.act(key, {
      sender: account,
      cid,
      makes: messageCreated,
      // Messages and polls are one kind of event.
      isRepeat: (_row, body) => (poll ? body.poll != null : body.poll_id === null) && hasSameContent(body, draft, key),
      judge(view, now): Judgement<never> {
        const reply = draft.replyTo === null ? null : messageIn(view, draft.replyTo)
        const judged = judgeDraft(view, draft, { node, account, now, missing })
        const { facts, standing, hidden } = judged
        ruling = judged.ruling
        if (hidden) return { refuse: hidden }
        const sealingError = sealingErrorIn?.(view)
        if (!ruling.verdict.ok) return { refuse: refusalOf(ruling) }
        if (sealingError) return { refuse: sealingError }
        if (draft.replyTo !== null && (!reply || reply.body.deleted)) return { refuse: noReplyError }
        if (!standing.isMember) return { refuse: outsiderError }
        const quote = reply && quoteOf(reply, facts)
        const newPoll = poll?.(now)
        const body = { ...bodyOf(draft, quote, ruling, newPoll?.id ?? null), ...keysOf(files) }
        return {
          accept: entryOf(
            view,
            { account, name, role: standing.role },
            messageCreated,
            newPoll ? { ...body, poll: newPoll.poll as never } : body,
          ),
        }
      },
    })
  const outcome = await withKeptFiles(node, account, files, act)
    .catch(async (error: unknown) => {
      if (error !== outsiderError) throw error
      await node.callAs(account, rooms.join, { room: roomOfKey(key) })
      return withKeptFiles(node, account, files, act)
    })
    .finally(() => node.metrics.verdict(ruling?.verdict.step ?? 'none'))
  if (!outcome.row) throw new AppError('INTERNAL_ERROR')
  const { row, body, duplicate } = outcome
  const nextSendAt = duplicate ? null : nextSendOf(ruling)
  if (nextSendAt !== null)
    emit(capabilitiesChanged, audiences.account(account), await capabilitiesNow(node, key, account))
  return { row, body, message: messageOfRow(row), duplicate, nextSendAt }
}

/** Is this the original content of a message? A changed or sealed one cannot be compared. */
function hasSameContent(
  body: Omit<MessageBody, 'actor'>,
  { text, type, replyTo, attachments, mentions, poll }: MessageDraft,
  key: string,
): boolean {
  if (body.edited_at !== null || body.deleted !== null || sealedBy(roomOfKey(key)) !== null) return true
  const stored = [body.text, body.type, body.reply_to?.id ?? null, body.attachments, body.mentions]
  const isSame = isDeepStrictEqual(stored, [text, type, replyTo, attachments, mentions])
  return isSame && isDeepStrictEqual(body.poll ? pollInputOf(body.poll) : null, poll)
}

/** A shared-key text is bound to its message id: with a server-made id nobody could open it. */
const unboundError = new AppError('VALIDATION_ERROR', {
  message: 'client_msg_id (wakuMessageId) is required: the content is sealed with it, and opens by it alone',
})

/** The sender may write after joining. */
const outsiderError = new AppError('NOT_A_MEMBER')

const noReplyError = new AppError('VALIDATION_ERROR', { message: 'reply_to: the message you reply to is not here' })
const nextSendOf = (ruling: Ruling | null): number | null => ruling?.nextSendAt ?? null

function bodyOf(
  draft: MessageDraft,
  reply_to: MessageBody['reply_to'],
  ruling: Ruling,
  pollId: string | null,
): Omit<MessageBody, 'actor'> {
  return {
    text: draft.text,
    type: draft.type,
    attachments: draft.attachments as MessageBody['attachments'],
    mentions: [...draft.mentions],
    reply_to,
    poll_id: pollId,
    version: 1,
    edited_at: null,
    deleted: null,
    pinned: null,
    reactions: {},
    flagged: ruling.flagged.map(({ id }) => id),
    edits: [],
  }
}

export async function capabilitiesNow(node: Node, key: string, account: string) {
  const known = await node.log.ask(key, (view, now) => ({
    room: roomOfKey(key),
    v: view.seq,
    ...capabilitiesOf(view, { node, account, now }),
  }))
  return { ...known, capabilities: await reachableCapabilities(node, key, account, known.capabilities) }
}

const unreachable = { ok: false, code: 'USER_NOT_FOUND' } as const

/** These capabilities, or none in a conversation that goes on with a deleted account. */
export async function reachableCapabilities(
  node: Node,
  key: string,
  account: string,
  capabilities: ReturnType<typeof capabilitiesOf>['capabilities'],
): Promise<z.infer<typeof Capabilities>> {
  const peer = peerIn(roomOfKey(key), account)
  const isOpen = peer !== null && capabilities.text.ok
  if (!isOpen || !(await hasMessages(node, key)) || !(await isGoneAccount(peer))) return capabilities
  return Object.fromEntries(Object.keys(capabilities).map((sendable) => [sendable, unreachable]))
}

/**
 * Refuses a message to a deleted account, and the first message where the other person does not permit it. An account
 * that is to be erased is refused like an unknown one.
 */
async function refuseUnreachablePeer(node: Node, key: string, account: string): Promise<void> {
  const peer = peerIn(roomOfKey(key), account)
  if (peer === null) return
  if (await hasMessages(node, key)) return refuseGone(peer)
  await refuseNewContact(peer).catch(() => {
    throw new AppError('ROOM_NOT_FOUND')
  })
  const refusal = await refusalOfContact('messages_from', account, peer)
  if (refusal) throw refusal
}

export const check: Action<typeof contract.check> = async (input, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(input.room)
  const draft = draftOf(input, sealedBy(input.room))
  const files = namedFiles(draft, { publicUrl: context.node.settings.storageUrl, sender: account })
  const missing = await missingFiles(account, files)
  await refuseUnreachablePeer(context.node, key, account)
  const { verdict, retryAfter } = await context.node.log.ask(key, (view, now) => {
    const { ruling, hidden } = judgeDraft(view, draft, { node: context.node, account, now, missing })
    if (hidden) throw hidden
    return ruling
  })
  return { verdict, ...(retryAfter === null ? {} : { retryAfter }) }
}

interface ClearMessage {
  type: ClearType
  text: string
  /** A repeat with this key from the same account is the same message. */
  cid: string
}

/**
 * Sends a message in clear to a person, from the given account. A repeat with the same key is not new. Null if it is
 * refused, as after a block.
 */
export async function sendClearMessage(
  node: Node,
  from: string,
  to: string,
  { type, text, cid }: ClearMessage,
): Promise<{ isNew: boolean } | null> {
  try {
    const key = roomKey(dmOf(from, to))
    const { duplicate } = await sendDraft({ node, emit: () => {} }, key, from, textDraft(type, text.trim()), { cid })
    return { isNew: !duplicate }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}
