import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Driver, type Measured, startBare, startDriver, startPlaza, stopAll } from './processes.ts'
import { Report } from './report.ts'
import { moderatedRoom, people } from './room.ts'

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const isQuick = options.quick
const rounds = isQuick ? 2 : 3
const accounts = isQuick ? 50 : 1_000
const idleConnections = isQuick ? 500 : 5_000
const load = isQuick ? { warmSeconds: 0.5, slices: 2 } : { warmSeconds: 2, slices: 6 }
const mostDriverShare = 0.97
const pacedSeconds = isQuick ? 1 : 5

/** So many that the latency says nothing. */
const floodWindow = 16
const rooms = [
  { size: 10, senders: 10, windows: [8] },
  { size: 100, senders: 20, windows: [8] },
  { size: 1_000, senders: 50, windows: isQuick ? [2] : [2, floodWindow] },
]

interface Side {
  name: 'bare' | 'plaza'
  server: Measured
  tokens: readonly string[]
}

const report = new Report()
try {
  await run()
  console.log(
    `\nNode ${process.version}, one server process each, embedded store; ${accounts} accounts share the connections of a larger room.`,
  )
  report.print()
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ rows: report.rows }, null, 2)}\n`)
} finally {
  await stopAll()
}

async function run(): Promise<void> {
  const [bare, plaza] = [await startBare(), await startPlaza()]
  const driver = startDriver()
  const members = await people(plaza.url, accounts)
  const roomId = await moderatedRoom(plaza.url, members)
  const tokens = members.map(({ token }) => token)
  const sides: Side[] = [
    { name: 'bare', server: bare, tokens },
    { name: 'plaza', server: plaza, tokens },
  ]
  for (const { name, server } of sides)
    await driver.tell({ order: 'open', crowd: name, url: server.url, roomId: name === 'bare' ? null : roomId })
  let size = 0
  for (const room of rooms) {
    for (const side of sides)
      await driver.tell({ order: 'grow', crowd: side.name, tokens: some(side.tokens, size, room.size) })
    size = room.size
    for (let round = 0; round < rounds; round++)
      for (const window of room.windows) await race(driver, sides, { ...room, window })
  }
  for (const side of sides) await idle(driver, side, size)
}

function some(tokens: readonly string[], from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, at) => tokens[(from + at) % tokens.length] ?? '')
}

interface Place {
  size: number
  senders: number
  window: number
}

/** One after the other at full load, then both at a tenth of what the slower of them can do. */
async function race(driver: Driver, sides: readonly Side[], place: Place): Promise<void> {
  const full: number[] = []
  for (const side of sides) full.push(await measure(driver, side, place))
  if (place.window === floodWindow) return
  const perSecond = Math.max(1, Math.min(...full) / 10)
  for (const { name } of sides) {
    const calm = await driver.pace({ order: 'pace', crowd: name, perSecond, seconds: pacedSeconds })
    report.note(name, place.size, 'send to ack p50 ms, a tenth of the load', calm.ack.p50)
    report.note(name, place.size, 'send to ack p99 ms, a tenth of the load', calm.ack.p99)
    report.note(name, place.size, 'send to last delivery p50 ms, a tenth of the load', calm.last.p50)
    report.note(name, place.size, 'send to last delivery p99 ms, a tenth of the load', calm.last.p99)
  }
}

/** Sends acknowledged per second. */
async function measure(driver: Driver, { name, server }: Side, { size, senders, window }: Place): Promise<number> {
  const of = `${window} unacknowledged each of ${senders}`
  const note = (what: string, value: number) => report.note(name, size, what, value)
  const before = await server.probe()
  const full = await driver.saturate({ order: 'saturate', crowd: name, plan: { senders, window, ...load } })
  const after = await server.probe()
  if (full.driverShare > mostDriverShare)
    console.error(`The driver was the limit: ${name} in a room of ${size} can do more than this says.`)
  note(`acknowledged sends/s, ${of}`, full.acknowledgedPerSecond)
  note(`deliveries/s, ${of}`, full.deliveriesPerSecond)
  note(`server CPU us/delivery, ${of}`, (after.cpuMicroseconds - before.cpuMicroseconds) / full.deliveries)
  note(`event loop lag p99 ms, ${of}`, after.lagMilliseconds)
  note(`driver CPU share, ${of}`, full.driverShare)
  console.error(`${name.padEnd(5)} ${String(size).padStart(5)}  ${Math.round(full.acknowledgedPerSecond)} sends/s`)
  return full.acknowledgedPerSecond
}

/** What so many more people cost who are there and say nothing. */
async function idle(driver: Driver, { name, server, tokens }: Side, size: number): Promise<void> {
  const before = await server.probe()
  const startedAt = performance.now()
  await driver.tell({ order: 'grow', crowd: name, tokens: some(tokens, size, size + idleConnections) })
  const seconds = (performance.now() - startedAt - 500) / 1_000
  const after = await server.probe()
  report.note(
    name,
    size + idleConnections,
    'kB memory per idle joined connection',
    (after.rssBytes - before.rssBytes) / idleConnections / 1_024,
  )
  report.note(name, size + idleConnections, 'connect, sign in and join, per second', idleConnections / seconds)
}
