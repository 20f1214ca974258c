import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { bodyOf, call } from '#test/support/wallet'
import { type Measured, startDriver, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people } from './room.ts'

interface Plan {
  /** Who share the connections of larger crowds. */
  accounts: number
  /** How many connections watch, one crowd after the other. */
  sizes: readonly number[]
  perSecond: number
  seconds: number
}

const setting = { nodes: 1, store: 'embedded' }
const crowd = 'stream'
const readyMilliseconds = 60_000
const joiningAtOnce = 8
const Made = z.object({ stream: z.object({ id: z.string() }) })
const Shown = z.object({ stream: z.object({ viewer_count: z.number() }) })

/** The chat of one livestream, whose people get its count over the same connection. */
export async function measureStreamChat(report: Report, { accounts, sizes, perSecond, seconds }: Plan): Promise<void> {
  try {
    const server = await startPlaza({ livestreams: true })
    const driver = startDriver()
    const everybody = await people(server.url, accounts)
    const tokens = everybody.map(({ token }) => token)
    const stream = await wentLive(server, tokens[0] ?? '')
    for (let from = 1; from < tokens.length; from += joiningAtOnce)
      await Promise.all(
        tokens
          .slice(from, from + joiningAtOnce)
          .map((token) => bodyOf(call(server.url, `POST /api/rooms/stream/${stream}/join`, {}, token))),
      )
    const dialect = { side: 'plaza', room: stream, protocol: 2, isStream: true } as const
    await driver.tell({ order: 'open', crowd, urls: [server.url], dialect })
    let there = 0
    for (const size of sizes) {
      const more = Array.from({ length: size - there }, (_, nth) => tokens[(there + nth) % tokens.length] ?? '')
      await driver.tell({ order: 'grow', crowd, tokens: more })
      there = size
      // Who streams is no viewer, and each account is one, however many connections it has.
      await isCounted(server, stream, Math.min(size, accounts) - 1)
      await driver.pace({ order: 'pace', crowd, perSecond, seconds: seconds / 4 })
      const before = await server.probe()
      const { messages, ack, last } = await driver.pace({ order: 'pace', crowd, perSecond, seconds })
      const after = await server.probe()
      const tell = (name: string, value: number, target: number) =>
        report.tell({
          ...setting,
          ...{ name: `chat of a stream, ${size.toLocaleString('en')} watching, ${perSecond} messages/s: ${name}` },
          ...{ value, target },
        })
      tell('send to ack p99 ms', ack.p99, 1_000)
      tell('send to last delivery p50 ms', last.p50, 500)
      tell('send to last delivery p99 ms', last.p99, 1_000)
      tell('server CPU ms/message', (after.cpuMicroseconds - before.cpuMicroseconds) / 1_000 / messages, 20)
    }
  } finally {
    await stopAll()
  }
}

/** The engine starts while the server does. */
async function wentLive({ url }: Measured, token: string): Promise<string> {
  const end = performance.now() + readyMilliseconds
  for (;;) {
    const { status, body } = await call(url, 'POST /api/streams', { title: 'Bench' }, token)
    if (status === 200) return Made.parse(body).stream.id
    if (performance.now() > end) throw new Error(`Nobody can go live: ${status} ${JSON.stringify(body)}`)
    await sleep(200)
  }
}

async function isCounted({ url }: Measured, stream: string, viewers: number): Promise<void> {
  const end = performance.now() + readyMilliseconds
  for (;;) {
    const { viewer_count } = Shown.parse((await call(url, `GET /api/public/streams/${stream}`)).body).stream
    if (viewer_count === viewers) return
    if (performance.now() > end) throw new Error(`This run is void: ${viewer_count} of ${viewers} are counted`)
    await sleep(200)
  }
}
