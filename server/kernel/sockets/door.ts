import type { Fanout } from '#server/ports/fanout/port'
import type { Namespace } from '#shared/kit/contract'
import type { LiveConnection } from '../connection.ts'
import type { Caller } from '../context.ts'
import type { Door } from '../door.ts'

export interface SocketDoor extends Door {
  fanout: Fanout
  /** Which of these sessions still have their record. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** What `session:ready` says of the caller. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  /** What the domains do with a new connection. */
  connected(namespace: Namespace, connection: LiveConnection): Promise<void> | void
}

/** What one connection may ask of a node: the size of an event, and how many in a second before the scale of the node. */
export const eventLimitBytes = 64 * 1024
export const eventsPerSecond = 30
