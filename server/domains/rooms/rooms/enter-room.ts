import { checkGate } from '#server/domains/gates'
import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { gateFor, type Pass } from '#server/domains/rooms/room-state/passes'
import { appointManagers, isManaged } from '#server/domains/rooms/room-state/succession'
import type { Node } from '#server/kernel/context'
import type { Judgement, RoomKey, View } from '#server/log/types'
import type { Gate, GateAnswer } from '#shared/api/rooms/gates'
import { AppError } from '#shared/errors'

interface RoomEntry {
  /** The account that enters. */
  who: string
  /** The admitting account, if another. */
  by?: string
  /** Ends in `becomeMember`, which gets the pass. */
  judge(view: View, now: number, pass: Pass | null): Judgement<null>
}

/**
 * Every way into a room with a possible gate. The gate is checked before the log's turn, if nothing else refuses.
 * `answer` is null if no check was needed.
 */
export async function enterRoom(node: Node, key: RoomKey, { who, by = who, judge }: RoomEntry) {
  const pass: Pass = { room: key, account: who }
  const gate = await node.log.ask(key, (view, now) => {
    const room = roomIn(view)
    const asked = room && gateFor(room, who)
    const judged = asked && judge(view, now, pass)
    if (judged && 'refuse' in judged) throw judged.refuse
    return judged && 'accept' in judged ? asked : null
  })
  const answer = gate && (await passGate(node, who, gate))
  const outcome = await node.log.act(key, {
    sender: by,
    makes: memberJoined,
    judge: (view, now) => judge(view, now, answer && pass),
  })
  // A room whose last manager left, or was suspended among others who cannot manage it, had no successor.
  if (outcome.row && !(await isManaged(node, key))) await appointManagers(node, [key])
  return { outcome, answer }
}

/** Throws the refusal with its findings. */
async function passGate(node: Node, account: string, gate: Gate): Promise<GateAnswer> {
  const answer = await checkGate({ node, account, gate, fresh: false })
  if (!answer.passed) throw gateRefusalOf(answer)
  return answer
}

export const gateRefusalOf = ({ text, checked, details }: GateAnswer): AppError =>
  new AppError('GATE_NOT_PASSED', { message: text, details: { ...details, checked } })
