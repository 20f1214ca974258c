import type { Node } from '#server/kernel/context'
import type { Gate, GateAnswer } from '#shared/api/rooms/gates'

/** The account at a gate, and the gate. */
export interface GateRequest<G extends Gate = Gate> {
  node: Node
  account: string
  gate: G
  /** Ignores caches and asks the source. */
  fresh: boolean
}

/** The server's side of a kind of gate. */
export interface GateRecord<By extends Gate['by'] = Gate['by']> {
  readonly by: By
  /** Does the membership end when a re-check fails? */
  lasts(node: Node): boolean
  /** Asks a port within a deadline. UPSTREAM_ERROR, TIMEOUT or SERVICE_UNAVAILABLE if there is no answer. */
  check(knock: GateRequest<Extract<Gate, { by: By }>>): Promise<GateAnswer>
  /** The gate with the source's names, if a founder could claim others. */
  named?(knock: GateRequest<Extract<Gate, { by: By }>>): Promise<Extract<Gate, { by: By }>>
}

export const defineGate = <By extends Gate['by']>(by: By, record: Omit<GateRecord<By>, 'by'>): GateRecord<By> => ({
  by,
  ...record,
})
