import type { Server } from 'socket.io'
import { sessionEnded } from '#shared/kit/connection'
import { type Event, namespaces } from '#shared/kit/contract'
import { audiences, type Live } from '../context.ts'
import type { Delivery } from '../invoke.ts'
import { allConnections, type LiveConnection, localConnections, socketRoomsOf } from './connection.ts'
import type { EventScopes } from './event-scopes.ts'

export const liveSockets = (io: Server, eventScopes: EventScopes): Live => ({
  send(event, audience, payload, ...[lean]) {
    const [whole = audience, thin] = socketRoomsOf(audience)
    for (const space of spacesOf(event)) {
      const { local, adapter } = io.of(space)
      const to = (part: string) => local.to(part).except(eventScopes.excludedRooms(event))
      if (adapter.rooms.has(whole)) to(whole).emit(event.name, payload)
      if (thin !== undefined && adapter.rooms.has(thin)) to(thin).emit(event.name, lean ? lean() : payload)
    }
  },
  sendVolatile(event, audience, payload) {
    const excluded = eventScopes.excludedRooms(event)
    for (const space of spacesOf(event))
      io.of(space).local.volatile.to(socketRoomsOf(audience)).except(excluded).emit(event.name, payload)
  },
  audienceSize(namespace, audience) {
    const { rooms } = io.of(namespace).adapter
    return socketRoomsOf(audience).reduce((sum, part) => sum + (rooms.get(part)?.size ?? 0), 0)
  },
  connections: () => io.engine.clientsCount,
  connectionsOf: (namespace, audience) => [...localConnections(io.of(namespace), audience)],
  endSessions(account, sessionIds, code) {
    const mine = namespaces.flatMap((name) => [...localConnections(io.of(name), audiences.account(account))])
    const isEnded = ({ caller: { session } }: LiveConnection) =>
      sessionIds === 'all' || (session !== null && sessionIds.includes(session.id))
    for (const live of mine.filter(isEnded)) {
      // The end of one namespace ends the connection below, so all its namespaces wait.
      const asking = mine.find(({ wire, owesAnswer }) => owesAnswer && wire === live.wire)
      if (asking) asking.afterAnswers(() => endConnection(live, code))
      else endConnection(live, code)
    }
  },
})

/** Sends the reason, then closes the connection. */
export function endConnection(live: LiveConnection, code: string): void {
  live.emit(sessionEnded, { code })
  setImmediate(() => live.close())
}

/** Sends an event to every socket of an audience, on all nodes. */
export function deliverOne(io: Server, eventScopes: EventScopes, { event, audience, payload }: Delivery): void {
  const excluded = eventScopes.excludedRooms(event)
  for (const space of spacesOf(event))
    io.of(space).to(socketRoomsOf(audience)).except(excluded).emit(event.name, payload)
}

const spacesOf = ({ namespace }: Event) => (namespace === '*' ? namespaces : [namespace])

export const allLiveConnections = (io: Server): LiveConnection[] =>
  namespaces.flatMap((name) => [...allConnections(io.of(name))])
