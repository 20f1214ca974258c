import type { Protocol } from '#shared/kit/connection'
import { Crowd } from './crowd.ts'
import { bareDialect, centrifugoDialect, type Dialect, plazaDialect, streamDialect } from './dialect.ts'
import { type Paced, type Plan, pace, type Saturated, type Scatter, saturate, scatter } from './load.ts'
import type { Side } from './report.ts'

/** The commands to the driver, which is a separate process. */
export type Order =
  | { order: 'open'; crowd: string; urls: readonly string[]; dialect: Spoken }
  | { order: 'fill'; crowd: string; urls: readonly string[]; rooms: readonly Filled[] }
  | { order: 'grow'; crowd: string; tokens: readonly string[] }
  | { order: 'saturate'; crowd: string; plan: Plan }
  | { order: 'pace'; crowd: string; perSecond: number; seconds: number }
  | { order: 'scatter'; crowd: string; plan: Scatter }
  | { order: 'close'; crowd: string }

/** The protocol with a server, for one room. */
export interface Spoken {
  side: Side
  room: string
  protocol: Protocol
  /** The room is the chat of a livestream of Plaza, which all its members watch. */
  isStream?: boolean
}
interface Filled {
  dialect: Spoken
  tokens: readonly string[]
}

export type Answer = { result: Saturated | Paced | null; faults: readonly string[] }

const crowds = new Map<string, Crowd>()
/** The crowds of many small rooms, by server. */
const filled = new Map<string, Crowd[]>()
const crowdOf = (name: string): Crowd => {
  const crowd = crowds.get(name)
  if (!crowd) throw new Error(`There is no crowd ${name}`)
  return crowd
}

function dialectOf({ side, room, protocol, isStream }: Spoken): Dialect {
  if (isStream) return streamDialect(room, protocol)
  if (side === 'plaza') return plazaDialect(room, protocol)
  // The plain WebSocket server uses the dialect of the bare Socket.IO server.
  return side === 'centrifugo' ? centrifugoDialect(room) : bareDialect(room)
}

const faultsOf = (name: string): string[] =>
  [crowds.get(name) ?? [], filled.get(name) ?? []].flat().flatMap(({ faults }) => faults.splice(0))

process.on('message', (order: Order) => {
  obey(order).then(
    (result) => process.send?.({ result, faults: faultsOf(order.crowd) } satisfies Answer),
    (error: unknown) => process.send?.({ result: null, faults: [String(error)] } satisfies Answer),
  )
})

const roomsAtOnce = 4

async function obey(order: Order): Promise<Answer['result']> {
  switch (order.order) {
    case 'open':
      crowds.set(order.crowd, new Crowd(order.urls, dialectOf(order.dialect)))
      return null
    case 'grow':
      await crowdOf(order.crowd).grow(order.tokens)
      return null
    case 'saturate':
      return saturate(crowdOf(order.crowd), order.plan)
    case 'pace':
      return pace(crowdOf(order.crowd), order.perSecond, order.seconds)
    case 'fill': {
      const rooms = order.rooms.map(({ dialect, tokens }) => ({
        crowd: new Crowd(order.urls, dialectOf(dialect)),
        tokens,
      }))
      for (let from = 0; from < rooms.length; from += roomsAtOnce)
        await Promise.all(rooms.slice(from, from + roomsAtOnce).map(({ crowd, tokens }) => crowd.enter(tokens)))
      filled.set(
        order.crowd,
        rooms.map(({ crowd }) => crowd),
      )
      return null
    }
    case 'scatter':
      return scatter(filled.get(order.crowd) ?? [], order.plan)
    case 'close':
      for (const crowd of filled.get(order.crowd) ?? [crowdOf(order.crowd)]) crowd.close()
      return null
  }
}
