import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import type { RoomFact } from '#server/domains/rooms/room-state/facts'
import { refuseNames } from '#server/domains/rooms/room-state/judge-draft'
import { isKnownRoom, kindOf, kinds } from '#server/domains/rooms/room-state/kinds'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { actorOf, archiveRoom, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { AppError } from '#shared/errors'
import { roomKey } from '#shared/kit/primitives'
import type { FoundedType } from '#shared/kit/room-kinds'
import { inviteIntoGroup } from './group-invitations/inviting.ts'
import { addPeople, friendsAndStrangers } from './members.ts'
import { refuseSlug, throwNameTaken } from './names.ts'

/** Creates a room and its first members. The record is one write, and lists the people to admit. */
export async function foundRoom(
  context: Context,
  type: FoundedType | 'stream',
  fields: Pick<RoomFact, 'name'> & Partial<RoomFact>,
  members: readonly string[],
  id = context.creationId,
) {
  const { node } = context
  const { account } = signedIn(context)
  await refuseFounding(node, account, fields)
  const key = roomKey({ type, id })
  const now = new Date(node.now()).toISOString()
  await Rooms.create({
    _id: key,
    type,
    id,
    creator_address: account,
    owner_address: account,
    created_at: now,
    updated_at: now,
    founding: { members: [...members] },
    ...(fields.gate ? { gate_checked_at: now } : {}),
    ...kinds[type].founded.fields,
    ...fields,
  }).catch(async (error: unknown) => {
    if (!(await Rooms.exists({ _id: key, creator_address: account }))) throwNameTaken(error)
  })
  await finishFounding(node, key)
  return key
}

/** Refuses a room or name that an account may not found, before it exists. */
export const refuseFounding = (node: Node, account: string, fields: Partial<RoomFact>): Promise<void> =>
  node.log.ask(GLOBAL, (view) => {
    if (fields.is_official && !standingOf(view, account).isAdmin)
      throw new AppError('FORBIDDEN', {
        message: `Only admins found ${fields.access_level === 'staff' ? 'channels of the staff' : 'official channels'}`,
      })
    refuseNames(node, view, account, { ...fields.gate, ...fields })
    refuseSlug(node, view, account, fields.slug)
  })

/** Admits the founder and first members, each once, on any node. */
async function finishFounding(node: Node, key: string): Promise<void> {
  const room = await Rooms.findOne({ _id: key }, { founding: 1, creator_address: 1 }).lean()
  if (!room?.founding || !room.creator_address) return
  const account = room.creator_address
  const actor = await actorOf(node, account)
  const role = kindOf(key).runBy ?? 'member'
  const finished = () => Rooms.updateOne({ _id: key }, { $unset: { founding: '' } })
  await node.log
    .act(key, {
      sender: account,
      makes: memberJoined,
      judge: (view, at) => becomeMember(view, at, actor, { role, invited: true }),
    })
    .catch(async (error: unknown) => {
      ignoreRefusal(error)
      // A room whose founder may not join is not retried.
      await archiveRoom(node, key, actor)
      await finished()
      throw error
    })
  // People who left or blocked the founder meanwhile stay out.
  const { friends, strangers } = await friendsAndStrangers(account, room.founding.members)
  for (const friend of friends) await addPeople(node, key, account, [friend]).catch(ignoreRefusal)
  await inviteIntoGroup(node, account, key, strangers).catch(ignoreRefusal)
  await finished()
}

/** A refusal is final; other errors are thrown, so that the work is repeated. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AppError) || error.status >= 500) throw error
}

const foundingMilliseconds = 30_000

/** Finishes rooms whose process died during their creation. */
export async function finishRooms(node: Node): Promise<void> {
  const before = new Date(node.now() - (node.alone ? 0 : foundingMilliseconds)).toISOString()
  const unfinished = { founding: { $exists: true }, created_at: { $lte: before } }
  for (const { _id } of await Rooms.find(unfinished, { _id: 1 }).sort({ created_at: 1 }).lean())
    if (isKnownRoom(_id))
      await finishFounding(node, _id).catch((error: unknown) => node.logger.warn({ error }, 'a room was not finished'))
}
