import { Crowd } from './crowd.ts'
import { bareDialect, type Dialect, plazaDialect, wsDialect } from './dialect.ts'
import { type Paced, type Plan, pace, type Saturated, saturate } from './load.ts'

/** What the driver is asked, in a process of its own. */
export type Order =
  | { order: 'open'; crowd: string; urls: readonly string[]; dialect: 'bare' | 'ws' | { roomId: string } }
  | { order: 'grow'; crowd: string; tokens: readonly string[] }
  | { order: 'saturate'; crowd: string; plan: Plan }
  | { order: 'pace'; crowd: string; perSecond: number; seconds: number }
  | { order: 'close'; crowd: string }

export type Answer = { result: Saturated | Paced | null; faults: readonly string[] }

const crowds = new Map<string, Crowd>()
const crowdOf = (name: string): Crowd => {
  const crowd = crowds.get(name)
  if (!crowd) throw new Error(`There is no crowd ${name}`)
  return crowd
}

function dialectOf(dialect: Extract<Order, { order: 'open' }>['dialect']): Dialect {
  if (dialect === 'bare') return bareDialect
  return dialect === 'ws' ? wsDialect : plazaDialect(dialect.roomId)
}

process.on('message', (order: Order) => {
  obey(order).then(
    (result) => process.send?.({ result, faults: crowds.get(order.crowd)?.faults.splice(0) ?? [] } satisfies Answer),
    (error: unknown) => process.send?.({ result: null, faults: [String(error)] } satisfies Answer),
  )
})

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
    case 'close':
      crowdOf(order.crowd).close()
      return null
  }
}
