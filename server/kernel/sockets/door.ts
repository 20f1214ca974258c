import type { Door } from '#server/kernel/http/door'
import type { Fanout } from '#server/ports/fanout/port'
import type { Namespace } from '#shared/kit/contract'
import type { Caller } from '../context.ts'
import type { LiveConnection } from './connection.ts'
import type { EventScopes } from './event-scopes.ts'

export interface SocketDoor extends Door {
  fanout: Fanout
  eventScopes: EventScopes
  /** The sessions among these that are still stored. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The caller's part of `session:ready`. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  /** Calls the domains' handlers for a new connection. */
  connected(namespace: Namespace, connection: LiveConnection): Promise<void> | void
}

export const eventLimitBytes = 64 * 1024
