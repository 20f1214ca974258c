import { checkGate } from '#server/domains/gates'
import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { gateFor, type Pass } from '#server/domains/rooms/room-state/passes'
import { settleRooms } from '#server/domains/rooms/room-state/succession'
import type { Node } from '#server/kernel/context'
import type { Judgement, RoomKey, View } from '#server/log/types'
import type { Gate, GateAnswer } from '#shared/api/gates'
import { AppError } from '#shared/errors'

interface Entry {
  /** Who comes in. */
  who: string
  /** Who lets them in, where that is somebody else. */
  by?: string
  /** Ends in `becomeMember`, which is given the pass. */
  judge(view: View, now: number, pass: Pass | null): Judgement<null>
}

/**
 * Every way into a room by which somebody may have to pass a gate. The gate is looked at before the log's turn, and only where
 * nothing else keeps them out. `answer` is null where nothing was asked.
 */
export async function enter(node: Node, key: RoomKey, { who, by = who, judge }: Entry) {
  const pass: Pass = { room: key, account: who }
  const gate = await node.log.ask(key, (view, now) => {
    const room = roomIn(view)
    const asked = room && gateFor(room, who)
    const judged = asked && judge(view, now, pass)
    if (judged && 'refuse' in judged) throw judged.refuse
    return judged && 'accept' in judged ? asked : null
  })
  const answer = gate && (await pastGate(node, who, gate))
  const outcome = await node.log.act(key, {
    sender: by,
    makes: memberJoined,
    judge: (view, now) => judge(view, now, answer && pass),
  })
  // Where everybody has left, nobody followed who ran it.
  if (outcome.body?.member_count === 1) await settleRooms(node, [key])
  return { outcome, answer }
}

/** Throws the refusal, which shows what was looked at. */
async function pastGate(node: Node, account: string, gate: Gate): Promise<GateAnswer> {
  const answer = await checkGate({ node, account, gate, fresh: false })
  if (!answer.passed) throw refusalOf(answer)
  return answer
}

export const refusalOf = ({ text, checked, details }: GateAnswer): AppError =>
  new AppError('GATE_NOT_PASSED', { message: text, details: { ...details, checked } })
