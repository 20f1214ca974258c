import type { Server } from 'socket.io'
import { sessionExpiring } from '#shared/kit/connection'
import type { SocketDoor } from './door.ts'
import { endConnection, everybody } from './live.ts'

const expiringMilliseconds = 5 * 60_000
const sweepMilliseconds = 1_000
const recheckSweeps = 60

/** Looks after the open connections every second; ends with what it returns. */
export function startSweep(io: Server, door: SocketDoor): () => void {
  let sweeps = 0
  const sweep = setInterval(() => void sweepConnections(io, door, ++sweeps % recheckSweeps === 0), sweepMilliseconds)
  return () => clearInterval(sweep)
}

/** Ends expired connections, warns those that expire soon, drops clients that do not read, and checks from time to time whether sessions still exist. */
async function sweepConnections(io: Server, door: SocketDoor, isRecheck: boolean): Promise<void> {
  const now = door.kernel.node.now()
  const all = everybody(io)
  door.kernel.node.metrics.sockets(io.engine.clientsCount)
  for (const live of all) {
    const { session } = live.caller
    if (live.isBehind) {
      door.kernel.node.metrics.slowConsumer()
      door.kernel.node.logger.warn({ reason: 'slow-consumer' }, 'closed a socket')
      live.drop()
    } else if (session && session.expiresAt <= now) endConnection(live, 'SESSION_EXPIRED')
    else if (session && !live.warned && session.expiresAt - now <= expiringMilliseconds) {
      live.warned = true
      live.emit(sessionExpiring, { in_s: Math.floor((session.expiresAt - now) / 1000) })
    }
  }
  if (!isRecheck) return
  const ids = [...new Set(all.flatMap((live) => live.caller.session?.id ?? []))]
  const alive = await door.alive(ids).catch(() => new Set(ids))
  for (const live of all)
    if (live.caller.session && !alive.has(live.caller.session.id)) endConnection(live, 'SESSION_NOT_FOUND')
}
