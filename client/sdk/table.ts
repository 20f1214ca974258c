import { messageEvents } from '#shared/api/messages'
import { moderationEvents } from '#shared/api/moderation'
import { notificationEvents } from '#shared/api/notifications'
import { roomEvents } from '#shared/api/rooms'
import { defaultRules } from '#shared/api/verdict'
import { type Api, operationsOf, type Route, type SocketEvent } from '#shared/kit/contract'
import { api } from './contract.ts'

/** What the client must know of an operation to call it. */
export interface Callable {
  http?: Route
  socket?: SocketEvent
  /** The field by which a repeat is recognised. */
  key?: string
}

/** The published bundle holds the value of this table, not the schemas it is read from. */
export const table = {
  operations: callablesOf(api),
  events: { ...messageEvents, ...roomEvents, ...notificationEvents, ...moderationEvents },
  defaultRules,
}

function callablesOf(contract: Api): Record<string, Callable> {
  return Object.fromEntries(
    operationsOf(contract).map(({ name, operation: { http, socket, idempotency } }) => [
      name,
      { ...(http && { http }), ...(socket && { socket }), ...(idempotency && { key: idempotency.key }) },
    ]),
  )
}
