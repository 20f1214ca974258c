import { createApp } from './app.ts'
import { ConfigError, readConfig } from './config.ts'
import { startDemo } from './demo/demo.ts'
import { metrics } from './kernel/metrics.ts'
import { openPlatform } from './platform.ts'

const stopMilliseconds = 15_000

try {
  await start()
} catch (error) {
  const isPlain =
    error instanceof ConfigError || ['EADDRINUSE', 'EBUSY'].includes((error as { code?: string }).code ?? '')
  console.error(isPlain ? (error as Error).message : error)
  process.exit(1)
}

async function start(): Promise<void> {
  const config = readConfig()
  const platform = await openPlatform(config)
  await platform.database.buildIndexes()
  const app = await createApp(config, platform)
  const demo = config.demo ? await startDemo(app.node) : null
  tellParts(app.url, [
    ...platform.parts,
    {
      part: 'demo',
      adapter: config.demo ? 'on' : 'off',
      why: config.demo ? 'scripted people live here; DEMO=off makes it quiet' : 'nobody here is scripted',
    },
  ])
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
  process.on('SIGTERM', () => stop(0))
  process.on('SIGINT', () => stop(0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      metrics.unhandled()
      platform.logger.error({ error }, event)
      stop(1)
    })
}

function tellParts(url: string, parts: readonly { part: string; adapter: string; why: string }[]): void {
  const width = Math.max(...parts.map(({ adapter }) => adapter.length))
  console.log(`\nPlaza is open: ${url}\nDocuments:     ${url}/docs\n`)
  for (const { part, adapter, why } of parts) console.log(`  ${part.padEnd(10)} ${adapter.padEnd(width)}  ${why}`)
  console.log('')
}
