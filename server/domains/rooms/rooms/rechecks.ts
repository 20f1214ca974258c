import { randomInt } from 'node:crypto'
import { checkGate, lastingGates } from '#server/domains/gates'
import { memberRemoved } from '#server/domains/rooms/room-state/events/people'
import { memberIn, roomFactOf, roomIn } from '#server/domains/rooms/room-state/facts'
import { gateFor, leavingChanges } from '#server/domains/rooms/room-state/membership'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { displayNameOf, entryOf, plazaActor } from '#server/domains/rooms/room-state/standing'
import { actWithSuccession } from '#server/domains/rooms/room-state/succession'
import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { every } from '#server/kernel/work/every'
import type { RoomKey } from '#server/log/types'
import { roomTypes } from '#shared/kit/room-kinds'
import { roomSettings } from './settings.ts'

/** Members read this, so it does not say what is missing. */
const reason = 'No longer has what the room asks for'
const unansweredAtMost = 5

export function startRechecks(node: Node): Stop {
  const { recheckMilliseconds } = roomSettings.of(node)
  if (recheckMilliseconds === 0) return () => {}
  const milliseconds = Math.min(recheckMilliseconds, 60_000)
  return every(node, milliseconds, () => recheckMembers(node), 'the gates of rooms were not asked again')
}

/** Removes members who no longer pass their room's gate. One node checks each room in each period. */
export async function recheckMembers(node: Node): Promise<void> {
  const now = node.now()
  const due = new Date(now - roomSettings.of(node).recheckMilliseconds).toISOString()
  const isDue = {
    gate_checked_at: { $lte: due },
    type: { $in: roomTypes },
    is_active: true,
    'gate.by': { $in: lastingGates(node) },
  }
  for (;;) {
    const room = await Rooms.findOneAndUpdate(isDue, { $set: { gate_checked_at: new Date(now).toISOString() } }).lean()
    if (!room) return
    await recheckRoom(node, room._id).catch((error: unknown) =>
      node.logger.warn({ room: room._id, error }, 'the members of a room with a gate were not asked again'),
    )
  }
}

/** Members without an answer stay until the next period. After several in a row, all remaining ones stay. */
async function recheckRoom(node: Node, key: RoomKey): Promise<void> {
  const room = await Rooms.findOne({ _id: key }).lean()
  if (!room) return
  const members = await Members.find({ room: key, is_active: true }, { user_address: 1, joined_seq: 1 }).lean()
  let unanswered = 0
  for (const { user_address: account, joined_seq } of rotated(members)) {
    const gate = gateFor(roomFactOf(room), account)
    if (!gate) continue
    try {
      const { passed } = await checkGate({ node, account, gate, fresh: true })
      unanswered = 0
      if (!passed) await removeMember(node, key, account, joined_seq)
    } catch (error) {
      unanswered += 1
      if (unanswered === unansweredAtMost) throw error
      node.logger.warn({ room: key, account, error }, 'a member of a room with a gate was not asked again')
    }
  }
}

/** Starts at a random member, so that nobody always follows those without an answer. */
function rotated<Item>(items: readonly Item[]): Item[] {
  const first = items.length > 0 ? randomInt(items.length) : 0
  return [...items.slice(first), ...items.slice(0, first)]
}

async function removeMember(node: Node, key: RoomKey, account: string, joined_seq: number | undefined): Promise<void> {
  const targetName = await displayNameOf(node, account)
  await actWithSuccession(node, key, account, {
    sender: plazaActor.account,
    makes: memberRemoved,
    judge(view) {
      const member = memberIn(view, account)
      // A member who left and returned meanwhile has passed the gate again.
      if (!roomIn(view)?.is_active || !member || member.joined_seq !== joined_seq) return { already: null }
      return {
        accept: entryOf(view, plazaActor, memberRemoved, leavingChanges(view, account), {
          target: account,
          targetName,
          reason,
        }),
      }
    },
  })
}
