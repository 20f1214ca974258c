import { z } from 'zod'
import { filesAtOnce, removeUnnamed, removeUnnamedFiles } from '#server/domains/media/files/removal'
import { hasBlock, keyOf, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { messageDeleted } from '#server/domains/rooms/room-state/events/messages'
import { type MessageFact, messageIn, pinsIn } from '#server/domains/rooms/room-state/facts'
import { refuseRemark } from '#server/domains/rooms/room-state/judge-draft'
import { type FileRemoval, removePurgedSlice } from '#server/domains/rooms/room-state/redaction'
import { actorOf, entryOf, isSuspended, plazaActor, type Standing } from '#server/domains/rooms/room-state/standing'
import { type Action, type Context, type Job, type Node, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { job } from '#server/kernel/work/jobs'
import { RoomEvents } from '#server/log/model'
import type { Judgement, RoomKey, View } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'

interface TouchedMessage {
  message: MessageFact
  standing: Standing
}

/** The standing of a member who may write in the room; throws otherwise, before anything in it is looked for. */
export function writerStanding(view: View, account: string, now: number): Standing {
  const { room, standing } = readableRoomOf(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  if (hasBlock(view)) throw new AppError('BLOCKED')
  if (!standing?.isMember && !standing?.isModerator) throw new AppError('NOT_A_MEMBER')
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  return standing
}

/** The message that a client named, if this member may write in its room; throws otherwise. */
export function touchableMessage(view: View, account: string, id: string, now: number): TouchedMessage {
  const standing = writerStanding(view, account, now)
  const message = messageIn(view, id)
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return { message, standing }
}

/** The message; throws if it was deleted. */
export const presentMessage = ({ message }: TouchedMessage): MessageFact => {
  if (message.body.deleted) throw new AppError('MESSAGE_NOT_FOUND')
  return message
}

export const remove: Action<typeof contract.remove> = async ({ room, id, reason, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const outcome = await removeMessage(context, key, account, id, reason ?? null, client_action_id)
  return { seq: outcome.row?.seq ?? outcome.view.seq }
}

/** The room of a message; the caller's right is checked there. */
export async function roomKeyOfMessage(id: string): Promise<RoomKey> {
  const row = await RoomEvents.findOne({ _id: id, n: { $exists: true } }, { room: 1 }).lean<{ room: RoomKey }>()
  if (!row) throw new AppError('MESSAGE_NOT_FOUND')
  return row.room
}

export const removeById: Action<typeof contract.removeById> = async ({ messageId }, context) => {
  const { account } = signedIn(context)
  const key = await roomKeyOfMessage(messageId)
  // A hidden room gets the same answer as a missing message.
  const unseen = (error: unknown) =>
    error instanceof AppError && error.code === 'ROOM_NOT_FOUND' ? new AppError('MESSAGE_NOT_FOUND') : error
  await removeMessage(context, key, account, messageId, null).catch((error: unknown) => {
    throw unseen(error)
  })
  return done
}

export async function removeMessage(
  { node }: Context,
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
      const { message, standing } = touchableMessage(view, account, id, now)
      named = message.body.media ?? []
      if (!isSameAccount(message.sender, account) && !standing.canDelete)
        throw new AppError('FORBIDDEN', { message: 'You may not delete this message' })
      if (message.body.deleted) return { already: null }
      if (reason !== null && isSameAccount(message.sender, account)) refuseRemark(view, reason, { node, account, now })
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
  await removeUnnamedFiles(node, named)
  return outcome
}

/** The removals of one slice share a turn of the log. Other acts of the room are judged between two slices. */
const removedAtOnce = 50

interface Removal {
  /** Judged at the place of the removal in the log; a message for which it is false stays. */
  mayGo?(message: MessageFact, view: View, now: number): boolean
  /** Ends the removal after the slice that has begun. */
  signal?: AbortSignal
}

interface Removed {
  removed: number
  /** The ids of messages that may not go. */
  stayed: string[]
}

/**
 * Removes messages of a room as the server itself. The moderation log has the rule that asks for it, not each message.
 * A repetition passes over those that were removed before.
 */
export async function removeMessages(
  node: Node,
  key: RoomKey,
  ids: readonly string[],
  { mayGo = () => true, signal }: Removal = {},
): Promise<Removed> {
  const outcome: Removed = { removed: 0, stayed: [] }
  for (let start = 0; start < ids.length; start += removedAtOnce) {
    signal?.throwIfAborted()
    const slice = ids.slice(start, start + removedAtOnce)
    const files = await Promise.all(slice.map((id) => removeByServer(node, key, id, mayGo)))
    outcome.removed += files.filter(Array.isArray).length
    outcome.stayed.push(...slice.filter((_id, at) => files[at] === 'stayed'))
    for (const named of files) if (Array.isArray(named)) await removeUnnamedFiles(node, named)
  }
  return outcome
}

/** The files that the removed message named; null if it was removed before. */
async function removeByServer(
  node: Node,
  key: RoomKey,
  id: string,
  mayGo: NonNullable<Removal['mayGo']>,
): Promise<string[] | 'stayed' | null> {
  let files: readonly string[] = []
  const outcome = await node.log.act(key, {
    sender: plazaActor.account,
    makes: messageDeleted,
    judge: (view, now): Judgement<'stayed' | null> => {
      const message = messageIn(view, id)
      if (!message || message.body.deleted) return { already: null }
      if (!mayGo(message, view, now)) return { already: 'stayed' }
      files = message.body.media ?? []
      const body = { id, at: new Date(now).toISOString(), poll_id: message.body.poll_id }
      const about = { target: message.sender, targetName: message.body.actor.name }
      const entry = entryOf(view, { ...plazaActor, role: null }, messageDeleted, body, about)
      return { accept: { ...entry, isUnlisted: true } }
    },
  })
  return outcome.row ? [...files] : outcome.already
}

/** An act that was stored before its job ran is decided by then. */
export const decidedMilliseconds = 15_000
/** Until a purge is usually made, and its first slice removed. */
const soonMilliseconds = 1_000
/** What could not be removed stays for so long. */
const againMilliseconds = 30_000

const Purged = z.object({ room: z.string(), account: z.string(), until: z.number() })

/** Removes the texts of purged messages. It looks once more at a time by which the purge is decided. */
export const removingPurged: Job<typeof Purged> = job({
  kind: 'messages.remove-purged',
  payload: Purged,
  atOnce: 2,
  async run({ room, account, until }, { node, signal }) {
    if (!(await removePurged(node, room, account, { signal }))) return node.now() + againMilliseconds
    return node.now() < until ? until : undefined
  },
})

/** Plans the removal for a purge that is about to be made. The job is stored before the purge, so that no crash comes between. */
export async function planPurge(node: Node, room: RoomKey, account: string): Promise<void> {
  const now = node.now()
  await node.jobs.add(
    removingPurged,
    { room, account, until: now + decidedMilliseconds },
    newId(),
    now + soonMilliseconds,
  )
}

interface PurgeContent {
  from_seq: number
  count: number
  by: string
  reason: string | null
}

/** The content of a purge from a `seq` to the head. It takes what it removes out of the pins. */
export function purgeBody(view: View, now: number, target: string, purge: PurgeContent) {
  const isTaken = (id: string) => {
    const message = messageIn(view, id)
    return message !== null && isSameAccount(message.sender, target) && message.seq >= purge.from_seq
  }
  const at = new Date(now).toISOString()
  return { ...purge, to_seq: view.seq, at, unpinned: pinsIn(view).filter(isTaken) }
}

/**
 * Removes the texts of an account's purged messages after their files, in slices. False if some are left: after so many
 * milliseconds, or after a failure of any slice but the first. One slice may take longer.
 */
export async function removePurged(
  node: Node,
  room: RoomKey,
  account: string,
  { signal, milliseconds = Number.POSITIVE_INFINITY }: { signal?: AbortSignal; milliseconds?: number } = {},
): Promise<boolean> {
  const files: FileRemoval = {
    most: filesAtOnce,
    // Where this fails the slice does too: the texts name the files, which no address shows meanwhile.
    remove: (named, isPurged) => removeUnnamed(node, named, (message) => !isPurged(message)),
  }
  const began = performance.now()
  for (let removed = 0; removed === 0 || performance.now() - began < milliseconds; removed++) {
    signal?.throwIfAborted()
    try {
      if (!(await removePurgedSlice(room, account, files))) return true
    } catch (error) {
      if (removed === 0) throw error
      node.logger.warn({ error, room }, 'purged texts stay for now')
      return false
    }
  }
  return false
}
