import type { Node } from '#server/kernel/context'
import type { Gate, GateAnswer } from '#shared/api/gates'

/** Who wants to pass a gate, and by what. */
export interface Knock<G extends Gate = Gate> {
  node: Node
  account: string
  gate: G
  /** Asks the source again, whatever is remembered. */
  fresh: boolean
}

/** What one sort of gate means on the server. */
export interface GateRecord<By extends Gate['by'] = Gate['by']> {
  readonly by: By
  /** Membership ends when the re-check finds that it is not passed any more. */
  lasts(node: Node): boolean
  /** Asks a port within a deadline. Throws (UPSTREAM_ERROR, TIMEOUT, SERVICE_UNAVAILABLE) where it cannot be told. */
  check(knock: Knock<Extract<Gate, { by: By }>>): Promise<GateAnswer>
  /** The gate with the names that the source has for what it asks, where a founder could give others. */
  named?(knock: Knock<Extract<Gate, { by: By }>>): Promise<Extract<Gate, { by: By }>>
}

/** Says what a gate means. */
export const defineGate = <By extends Gate['by']>(by: By, record: Omit<GateRecord<By>, 'by'>): GateRecord<By> => ({
  by,
  ...record,
})
