import { isDeepStrictEqual } from 'node:util'
import { withKeptFiles } from '#server/domains/media/files/claims'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import { keysOf, namedFiles } from '#server/domains/moderation/verdict/named-files'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { messageEdited } from '#server/domains/rooms/room-state/events/messages'
import { type MessageBody, type MessageFact, messageIn, sealingOf } from '#server/domains/rooms/room-state/facts'
import { acceptedVerdict, refuseChange } from '#server/domains/rooms/room-state/judge-draft'
import { messageOf } from '#server/domains/rooms/room-state/rendered'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { isInClear } from '#shared/kit/clear-types'
import { roomOfKey } from '#shared/kit/primitives'
import { sealedBy } from '#shared/kit/room-kinds'
import { draftOf, draftOfBody } from './drafts.ts'
import { movedSpans } from './mention-spans.ts'
import { quoteNow } from './quotes.ts'
import { sealedTextCheck } from './sealed.ts'
import { presentMessage, touchableMessage } from './touchable-message.ts'

const editMilliseconds = 15 * 60_000

export const edit: Action<typeof contract.edit> = (input, context) => editMessage(context, input)

type Edit = Parameters<typeof edit>[0]

/** Changes the caller's message; the text has two spellings. */
export async function editMessage(
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
  const fault = await sealedTextCheck(node, key, account, draft)
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
        const stale = fault(view)
        refuseEdit(message, account, version, now)
        if (stale) throw stale
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
        const { flagged } = refuseChange(view, after, { node, account, now, missing })
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
