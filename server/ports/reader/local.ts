import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { AppError, type ErrorCode } from '#shared/errors'
import type { CleanFile, DeclaredType, FileKind, ReadAs, ReadDocument, Reader, Turn } from './port.ts'

const deadlines: Readonly<Record<ReadAs | 'file', number>> = {
  page: 1_800,
  article: 1_800,
  markdown: 1_800,
  text: 1_800,
  api: 1_800,
  pdf: 8_000,
  docx: 4_000,
  file: 5_000,
}
const startMilliseconds = 20_000
const tooLong = 'Reading the document took too long'
const tooMuch = 'Reading the document took too much memory'
/** From the file of the server, as `scripts/build.mjs` puts them. */
const built = '../reader/main.js'
const idleMilliseconds = 30_000
const mostBytes = 512 * 2 ** 20
const lookMilliseconds = 100
const limits = ['--max-old-space-size=256', '--disallow-code-generation-from-strings']

interface Options {
  /** What is started in the place of our own program. */
  program?: URL
  milliseconds?: Partial<typeof deadlines>
}

const nothing = { type: '', path: '' }

/** Documents take turns, and so do files, each in a process of their own: neither waits for the other. */
export function processReader({ program, milliseconds }: Options = {}): Reader & { close(): Promise<void> } {
  const within = { ...deadlines, ...milliseconds }
  const [documents, files] = [openProcess('documents', program), openProcess('files', program)]
  return {
    read: (as, document, said = nothing, turn) => documents.ask<ReadDocument>({ as, document, said }, within[as], turn),
    clean: (kinds, file) => files.ask<CleanFile | null>({ kinds, file: new Uint8Array(file) }, within.file),
    async close() {
      await Promise.all([documents.close(), files.close()])
    },
  }
}

/**
 * A process beside the server, started at the first request. It is ended if work takes too long, and ends alone without
 * memory; a thread would end the server. Requests take turns.
 */
function openProcess(reads: 'documents' | 'files', program?: URL) {
  let running: Promise<ChildProcess> | null = null
  let isBusy = false
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Promise<ChildProcess> {
    const starting = startProcess(reads, program)
    const forget = () => {
      if (running === starting) running = null
    }
    starting.then((one) => one.once('exit', forget), forget)
    return starting
  }

  async function askNow<Found>(question: Question, milliseconds: number): Promise<Found> {
    clearTimeout(idle)
    if (isClosed) throw new AppError('SERVICE_UNAVAILABLE')
    running ??= start()
    const one = await running.catch((cause: unknown) => {
      throw new AppError('SERVICE_UNAVAILABLE', { cause })
    })
    const reply = await asked<Found>(one, question, milliseconds).catch(async (error: unknown) => {
      if (isClosed) throw new AppError('SERVICE_UNAVAILABLE', { cause: error })
      await end()
      throw error instanceof AppError ? error : new AppError('UPSTREAM_ERROR', { cause: error })
    })
    idle = globalThis.setTimeout(() => void end(), idleMilliseconds).unref()
    if (reply === null) throw new AppError('UPSTREAM_ERROR', { message: 'The document could not be read' })
    if ('found' in reply) return reply.found
    throw new AppError(reply.refused.code, { message: reply.refused.message })
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

  /** One question of each for whom some wait, and then the next of each. */
  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (const of of waiting.keys()) {
      const [first, ...rest] = waiting.get(of) ?? []
      waiting.delete(of)
      if (rest.length > 0) waiting.set(of, rest)
      await first?.()
    }
    isBusy = false
  }

  return {
    ask<Found>(question: Question, milliseconds: number, { of, signal }: Partial<Turn> = {}): Promise<Found> {
      return new Promise<Found>((resolve, reject) => {
        const left = () => reject(signal?.reason)
        signal?.addEventListener('abort', left, { once: true })
        const own = async () => {
          signal?.removeEventListener('abort', left)
          if (signal?.aborted) return left()
          await askNow<Found>(question, milliseconds).then(resolve, reject)
        }
        waiting.set(of ?? '', [...(waiting.get(of ?? '') ?? []), own])
        void work()
      })
    },
    close(): Promise<void> {
      isClosed = true
      return end()
    },
  }
}

async function startProcess(reads: string, program?: URL): Promise<ChildProcess> {
  const isBuilt = !import.meta.url.endsWith('.ts')
  const one = fork(program ?? new URL(isBuilt ? built : './process.ts', import.meta.url), [reads], {
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

function asked<Found>(one: ChildProcess, question: Question, milliseconds: number): Promise<Reply<Found>> {
  one.send(question)
  return told<Reply<Found>>(one, milliseconds)
}

/** What the process says next. Throws TIMEOUT; fails where the process ends. */
async function told<What>(one: ChildProcess, milliseconds: number): Promise<What> {
  const over = new AbortController()
  const { signal } = over
  try {
    const [what] = await Promise.race([
      once(one, 'message', { signal }),
      once(one, 'exit', { signal }).then(() => fail(new Error('The process ended'))),
      tooLarge(one, signal).then(() => fail(new AppError('PAYLOAD_TOO_LARGE', { message: tooMuch }))),
      setTimeout(milliseconds, null, { signal }).then(() => fail(new AppError('TIMEOUT', { message: tooLong }))),
    ])
    return what
  } finally {
    over.abort()
  }
}

const pageBytes = 4_096

/**
 * Resolves once the process holds more memory than it may: V8 does not count typed arrays among its limits. Where no `/proc` tells, the
 * deadline alone holds.
 */
async function tooLarge({ pid }: ChildProcess, signal: AbortSignal): Promise<void> {
  for (;;) {
    await setTimeout(lookMilliseconds, null, { signal })
    const [, pages = 0] = await readFile(`/proc/${pid}/statm`, 'utf8').then(
      (text) => text.split(' ').map(Number),
      () => [],
    )
    if (pages * pageBytes > mostBytes) return
  }
}

function fail(error: Error): never {
  throw error
}

/** Requests to the process, one at a time. */
export type Question =
  | { as: ReadAs; document: Uint8Array | string; said: DeclaredType }
  | { kinds: readonly FileKind[]; file: Uint8Array<ArrayBuffer> }

/** Its answer: a result, or a refusal; null after a failure. */
export type Reply<Found> = { found: Found } | { refused: { code: ErrorCode; message: string } } | null
