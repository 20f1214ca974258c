import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { AppError } from '#shared/errors'
import type { ReadAs, ReadDocument, Reader } from './port.ts'

const deadlines: Readonly<Record<ReadAs, number>> = {
  page: 1_800,
  article: 1_800,
  markdown: 1_800,
  text: 1_800,
  pdf: 8_000,
}
const startMilliseconds = 20_000
const tooLong = 'Reading the document took too long'
/** From the file of the server, as `scripts/build.mjs` puts them. */
const built = '../reader/main.js'
const idleMilliseconds = 30_000
const limits = ['--max-old-space-size=256', '--disallow-code-generation-from-strings']

/**
 * A process beside the server, which is ended with what takes it too long, and ends alone where memory runs out; a thread would take the
 * server with it. Documents take turns.
 */
export function processReader(): Reader & { close(): Promise<void> } {
  let running: Promise<ChildProcess> | null = null
  let last: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined

  async function readNow(as: ReadAs, document: Uint8Array | string): Promise<ReadDocument> {
    clearTimeout(idle)
    running ??= startProcess()
    const one = await running.catch((cause: unknown) => {
      running = null
      throw new AppError('SERVICE_UNAVAILABLE', { cause })
    })
    try {
      one.send({ as, document })
      const found = await told<ReadDocument | null>(one, deadlines[as])
      idle = globalThis.setTimeout(() => void end(), idleMilliseconds).unref()
      if (found === null) throw new AppError('UPSTREAM_ERROR', { message: 'The document could not be read' })
      return found
    } catch (error) {
      if (error instanceof AppError && error.code === 'UPSTREAM_ERROR') throw error
      await end()
      throw error instanceof AppError ? error : new AppError('UPSTREAM_ERROR', { cause: error })
    }
  }

  async function end(): Promise<void> {
    clearTimeout(idle)
    const ended = running
    running = null
    await ended?.then(
      (one) => one.kill('SIGKILL'),
      () => undefined,
    )
  }

  return {
    read(as, document) {
      const reading = last.then(() => readNow(as, document))
      last = reading.catch(() => undefined)
      return reading
    },
    close: end,
  }
}

async function startProcess(): Promise<ChildProcess> {
  const isBuilt = !import.meta.url.endsWith('.ts')
  const one = fork(new URL(isBuilt ? built : './process.ts', import.meta.url), {
    execArgv: [...limits, ...(isBuilt ? [] : ['--import', 'tsx'])],
    env: {},
    serialization: 'advanced',
    stdio: 'ignore',
  })
  one.on('error', () => undefined).unref()
  one.channel?.unref()
  await told(one, startMilliseconds)
  return one
}

/** What the process says next. Throws TIMEOUT; fails where the process ends. */
async function told<What>(one: ChildProcess, milliseconds: number): Promise<What> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [what] = await Promise.race([
      once(one, 'message', { signal }),
      once(one, 'exit', { signal }).then(() => fail(new Error('The process ended'))),
      setTimeout(milliseconds, null, { signal }).then(() => fail(new AppError('TIMEOUT', { message: tooLong }))),
    ])
    return what
  } finally {
    over.abort()
  }
}

function fail(error: Error): never {
  throw error
}
