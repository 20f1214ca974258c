import type { Node } from '#server/kernel/context'
import type { Gate, GateAnswer } from '#shared/api/rooms/gates'
import { attendanceGate } from './rooms/attendance/index.ts'
import type { GateRecord, GateRequest } from './rooms/gates/define.ts'
import { placeGate } from './rooms/places/index.ts'
import { balanceGate } from './rooms/tokens/gate.ts'

/** Every sort of gate; another is an entry of `Gate` in `shared/api/rooms/gates.ts` and one here. */
const gates: { readonly [By in Gate['by']]: GateRecord<By> } = {
  balance: balanceGate,
  attendance: attendanceGate,
  place: placeGate,
}

const recordOf = (gate: Gate): GateRecord => gates[gate.by] as GateRecord

export const checkGate = (knock: GateRequest): Promise<GateAnswer> => recordOf(knock.gate).check(knock)

/** The gates that members have to pass for as long as they are members. */
export const lastingGates = (node: Node): Gate['by'][] =>
  Object.values(gates).flatMap(({ by, lasts }) => (lasts(node) ? [by] : []))

export const namedGate = async <G extends Gate>(knock: GateRequest<G>): Promise<G> =>
  ((await recordOf(knock.gate).named?.(knock)) ?? knock.gate) as G
