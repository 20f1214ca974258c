import { setImmediate as breathe } from 'node:timers/promises'
import type { Server } from 'socket.io'
import { repeatWork } from '#server/kernel/beat'
import { sessionExpiring } from '#shared/kit/connection'
import { namespaces } from '#shared/kit/contract'
import { allConnections, type LiveConnection } from './connection.ts'
import type { SocketDoor } from './door.ts'
import { allLiveConnections, endConnection } from './live.ts'

const expiringMilliseconds = 5 * 60_000
const roundMilliseconds = 1_000
const checkedAtOnce = 500
const recheckMilliseconds = 60_000

/** Checks every open connection once a second; returns the function that stops it. */
export function startSweep(io: Server, door: SocketDoor): () => void {
  let isUnderWay = false
  const sweep = async () => {
    if (isUnderWay) return
    isUnderWay = true
    await lookAfterAll(io, door).finally(() => {
      isUnderWay = false
    })
  }
  const ends = [
    repeatWork(roundMilliseconds, () => void sweep()),
    repeatWork(recheckMilliseconds, () => void endWithoutSession(io, door)),
  ]
  return () => {
    for (const end of ends) end()
  }
}

async function lookAfterAll(io: Server, door: SocketDoor): Promise<void> {
  door.kernel.node.metrics.sockets(io.engine.clientsCount)
  let checked = 0
  for (const name of namespaces)
    for (const live of allConnections(io.of(name))) {
      lookAfter(live, door)
      if (++checked % checkedAtOnce === 0) await breathe()
    }
}

/** Ends an expired connection, warns before the expiry, and drops a client that does not read. */
function lookAfter(live: LiveConnection, door: SocketDoor): void {
  const { metrics, logger, now } = door.kernel.node
  const { session } = live.caller
  if (live.looksStuck()) {
    metrics.slowConsumer()
    logger.warn({ reason: 'slow-consumer' }, 'closed a socket')
    live.drop()
    return
  }
  if (!session) return
  const left = session.expiresAt - now()
  if (left <= 0) endConnection(live, 'SESSION_EXPIRED')
  else if (!live.warned && left <= expiringMilliseconds) {
    live.warned = true
    live.emit(sessionExpiring, { in_s: Math.floor(left / 1000) })
  }
}

/** Ends connections of ended sessions. Usually a message of another node does so; this finds lost ones. */
async function endWithoutSession(io: Server, door: SocketDoor): Promise<void> {
  const all = allLiveConnections(io)
  const ids = [...new Set(all.flatMap((live) => live.caller.session?.id ?? []))]
  const alive = await door.alive(ids).catch(() => new Set(ids))
  for (const live of all)
    if (live.caller.session && !alive.has(live.caller.session.id)) endConnection(live, 'SESSION_NOT_FOUND')
}
