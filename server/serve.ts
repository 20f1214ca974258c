import cluster from 'node:cluster'
import { createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { startDemo } from './demo/demo.ts'
import { refusalFrom } from './kernel/http/deadline.ts'
import { operatorSentenceOf } from './kernel/http/plain-errors.ts'
import { ConfigError } from './kernel/settings.ts'
import { orClosed } from './platform/database.ts'
import type { Part } from './platform/part.ts'
import { openPlatform, type Platform } from './platform.ts'
import { NoDatabase } from './ports/database/port.ts'
import { type Order, requestedWorkers, runWorkers, WorkerEnded, type WorkerMessage } from './workers.ts'

const stopMilliseconds = 15_000
const healthMilliseconds = 1_000
const pingMilliseconds = 2_000

start().catch((error: unknown) => {
  if (!(error instanceof WorkerEnded))
    console.error(operatorSentenceOf(error, ConfigError, NoDatabase) ?? busy(error) ?? error)
  process.exit(1)
})

async function start(): Promise<void> {
  if (cluster.isWorker) leaveSignals()
  const config = readConfig()
  const workers = cluster.isPrimary ? requestedWorkers(process.argv.slice(2), config) : null
  if (workers === null) await serve(config)
  else await runWorkers(config, workers, tellerOf(config))
}

/** One node of the log: the whole server, or one worker of several. */
async function serve(config: Config): Promise<void> {
  const platform = await openPlatform(config)
  const { database } = platform
  const app = await orClosed(database, async () => {
    await database.buildIndexes()
    return createApp(config, platform, { isWorker: cluster.isWorker })
  })
  let demo: { stop(): void } | null = null
  const live = async () => {
    if (config.demo) demo = await startDemo(app.node)
  }
  if (cluster.isPrimary) await orClosed(database, live)
  const parts = [
    ...platform.parts,
    {
      part: 'demo',
      adapter: config.demo ? 'on' : 'off',
      why: config.demo
        ? 'scripted people live here; DEMO=off makes it quiet'
        : config.reach
          ? `nobody here is scripted, as ${config.reach} lets others in`
          : 'nobody here is scripted',
    },
  ]
  let stopping = false
  const stop = (code: number) => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), stopMilliseconds).unref()
    demo?.stop()
    app
      .close()
      .then(() => platform.close())
      .then(() => process.exit(code))
      .catch(() => process.exit(1))
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      platform.metrics.unhandled()
      platform.logger.error({ error }, event)
      stop(1)
    })
  if (cluster.isWorker) return obeyPrimary(platform, app.degraded, stop, live, { kind: 'ready', url: app.url, parts })
  process.on('SIGTERM', () => stop(0))
  process.on('SIGINT', () => stop(0))
  tellerOf(config)(app.url, parts)
}

/** Of a store that took nothing in all the time of the start. */
function busy(error: unknown): string | null {
  if (refusalFrom(error)?.code !== 'SERVICE_UNAVAILABLE') return null
  return `The store did not take what a start writes, as it or this machine is too busy: ${(error as Error).message}`
}

/** Signals often reach the whole group; which worker ends, and when, is for the primary to say. */
function leaveSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
}

function obeyPrimary(
  { database, metrics }: Platform,
  degraded: () => Promise<readonly string[]>,
  stop: (code: number) => void,
  live: () => Promise<void>,
  ready: WorkerMessage,
): void {
  const tell = (told: WorkerMessage) => process.connected && process.send?.(told)
  process.on('message', (order: Order) => {
    if (order.kind === 'drain') stop(0)
    else if (order.kind === 'live') void live()
    else void metrics.figures().then((figures) => tell({ kind: 'figures', figures }))
  })
  tell(ready)
  setInterval(async () => {
    const late = new Promise<never>((_, reject) => setTimeout(reject, pingMilliseconds).unref())
    const reason = await Promise.race([database.ping(), late]).then(
      () => null,
      () => 'the database does not answer',
    )
    tell({ kind: 'health', reason, degraded: await degraded() })
  }, healthMilliseconds).unref()
}

/** By name, as no passkey works at an address. */
function named(url: string): string {
  return url.replace(/\/\/(127\.0\.0\.1|\[::1\])(?=:)/, '//localhost')
}

type Teller = (url: string, parts: readonly Part[]) => void

/** In production what is written is read by machines: a line is an object. */
function tellerOf({ production }: Config): Teller {
  return production ? tellInOneLine : tellParts
}

function tellInOneLine(at: string, parts: readonly Part[]): void {
  const msg = `Plaza is open: ${named(at)} with the parts of this line`
  console.log(
    JSON.stringify({
      level: 30,
      time: new Date(Math.round(performance.timeOrigin + performance.now())).toISOString(),
      msg,
      parts,
    }),
  )
}

function tellParts(at: string, parts: readonly Part[]): void {
  const url = named(at)
  const widest = (texts: string[]) => Math.max(...texts.map(({ length }) => length))
  const names = widest(parts.map(({ part }) => part))
  const adapters = widest(parts.map(({ adapter }) => adapter))
  console.log(`\nPlaza is open: ${url}\nDocuments:     ${url}/docs\n`)
  for (const { part, adapter, why } of parts)
    console.log(`  ${part.padEnd(names)}  ${adapter.padEnd(adapters)}  ${why}`)
  console.log('')
}
