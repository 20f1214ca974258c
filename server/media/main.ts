import { steadyClock } from './clock.ts'
import { type Engine, openEngine } from './engine.ts'
import type { FromEngine, ToEngine } from './messages.ts'

const memoryMilliseconds = 1_000
/** The server waits for 15 s. */
const beatMilliseconds = 4_000
const bytesInMb = 2 ** 20

run()

/** Messages between the server and this process, which ends with the server. */
function run(): void {
  const engine = new Promise<Engine>((resolve, reject) => {
    process.on('message', (message: ToEngine) => {
      if ('start' in message) start(message).then(resolve, reject)
      else if ('close' in message) void end(engine)
      else void obey(engine, message)
    })
  })
  process.on('disconnect', () => void end(engine))
  // They often reach the whole group; it ends with the server.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  engine.then(sayReady, (error: unknown) => {
    process.send?.({ cannotStart: String(error) } satisfies FromEngine, () => process.exit(1))
  })
}

function start({ start: settings, expected }: Extract<ToEngine, { start: unknown }>): Promise<Engine> {
  setInterval(() => {
    // The memory of media is beside that of objects, so it is looked at rather than limited.
    if (process.memoryUsage.rss() > settings.memoryMb * bytesInMb) process.exit(1)
  }, memoryMilliseconds)
  setInterval(() => say({ alive: true }), beatMilliseconds)
  const wall = () => Date.now()
  const engine = openEngine({
    ...{ settings, expected, clock: steadyClock, wall },
    tell: (event) => say({ event }),
    changed: () => void engine.then(sayReady),
  })
  return engine
}

async function obey(engine: Promise<Engine>, { id, ...asked }: Extract<ToEngine, { id: number }>): Promise<void> {
  const { answer } = await engine
  await answer(asked).then(
    (found) => say({ id, answer: found }),
    (error: unknown) => say({ id, failed: String(error) }),
  )
}

async function end(engine: Promise<Engine>): Promise<void> {
  await engine.then((open) => open.close())
  process.exit()
}

function sayReady({ ports, problem }: Engine): void {
  say({ ready: ports, problem })
}

function say(message: FromEngine): void {
  if (process.connected) process.send?.(message)
}
