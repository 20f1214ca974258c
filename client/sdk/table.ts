import { api, events } from '#shared/api/index'
import { defaultRules } from '#shared/api/moderation/verdict'
import { roomEventTypes } from '#shared/api/rooms/room-events'
import { type Api, operationsOf, type Route, type SocketEvent } from '#shared/kit/contract'

export type PlazaApi = typeof api

/** What the client needs to know about an operation to call it. */
export interface Callable {
  http?: Route
  socket?: SocketEvent
  /** The field that holds the idempotency key. */
  key?: string
  /** True if the answer is a sequence. */
  stream?: true
  /** Of a sequence: no line of its own says how it ended. */
  lines?: 'only'
}

/** The published bundle contains the value of this table, not the schemas it is derived from. */
export const table = {
  operations: callablesOf(api),
  events,
  defaultRules,
  keyEvents: Object.entries(roomEventTypes).flatMap(([type, declared]) => ('changesKeys' in declared ? type : [])),
  notices: Object.entries(roomEventTypes).flatMap(([type, declared]) => ('isNotice' in declared ? type : [])),
}

function callablesOf(contract: Api): Record<string, Callable> {
  return Object.fromEntries(
    operationsOf(contract).map(({ name, operation: { http, socket, idempotency, stream, lines } }) => [
      name,
      {
        ...(http && { http }),
        ...(socket && { socket }),
        ...(idempotency && { key: idempotency.key }),
        ...(stream && { stream }),
        ...(lines && { lines }),
      },
    ]),
  )
}
