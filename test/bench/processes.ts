import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, programs, startOptions } from '#test/support/programs'
import type { Answer, Order } from './driver.ts'
import type { Paced, Saturated } from './load.ts'

/** The processes that are stopped at the end of the run. */
export const children: ChildProcess[] = []
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

const start = (core: number, args: readonly string[], environment: Record<string, string>): ChildProcess =>
  startProgram(core, [process.execPath, ...args], environment)

/** Servers share one core and the driver has another, if the machine has two. */
export function startProgram(core: number, command: string[], environment: Record<string, string>): ChildProcess {
  const pinned = canPin ? ['taskset', '-c', String(core), ...command] : command
  const child = spawn(pinned[0] ?? '', pinned.slice(1), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...environment },
  })
  children.push(child)
  return child
}

/** The figures of a measured server: see probe.mjs. */
export interface Reading {
  cpuMicroseconds: number
  /** Including memory outside the heap. */
  heapBytes: number
  /** All that the process holds. */
  rssBytes: number
  /** Null for servers without an event loop. */
  lagMilliseconds: number | null
}

/** `memory` collects all garbage first, which slows down the server for a moment. */
export type Probe = 'probe' | 'memory'

export interface Measured {
  url: string
  pid: number
  /** Milliseconds from the start of the process until it listens. */
  startMilliseconds: number
  probe(what?: Probe): Promise<Reading>
}

const source = ['--import', 'tsx']
const probed = ['--import', './test/bench/probe.mjs']

export const startBare = (redisUrl?: string): Promise<Measured> =>
  listening(start(0, [...probed, ...source, 'test/bench/bare.ts', ...(redisUrl ? ['--redis', redisUrl] : [])], {}))

export const startRaw = (): Promise<Measured> => listening(start(0, [...probed, ...source, 'test/bench/raw.ts'], {}))

/** The services Plaza uses; without a MongoDB, the embedded store. */
export interface Ground {
  mongodbUri?: string
  redisUrl?: string
  /** A directory that is kept after the server stops. */
  directory?: string
  /** Where files are kept; without it in that directory. */
  s3?: { endpoint: string; keyId: string; secret: string }
  /** Whether people can go live, by an engine beside the server. */
  livestreams?: boolean
  /** 1: the limits as they are where nothing is configured; without it none. */
  rateLimitScale?: number
  /** Instead of those of `npm start`. */
  nodeOptions?: string[]
  /** False where the process may do nothing for the measurement, as that wakes it. */
  isProbed?: boolean
}

export function directoryOfRun(): string {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-bench-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function startPlaza({
  mongodbUri,
  redisUrl,
  directory = directoryOfRun(),
  s3,
  livestreams,
  rateLimitScale = 100_000,
  nodeOptions = startOptions(),
  isProbed = true,
}: Ground = {}): Promise<Measured> {
  build()
  return listening(
    start(0, [...nodeOptions, ...(isProbed ? probed : []), programs.main], {
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: directory,
      NODE_ENV: 'production',
      ...(livestreams ? { VIDEO_PROVIDER: 'selfhosted', RTMP_PORT: '0' } : { VIDEO_PROVIDER: 'none' }),
      DEMO: 'off',
      OFFICIAL_CHANNELS: 'off',
      WELCOME_MESSAGE: 'off',
      LOG_LEVEL: 'error',
      RATE_LIMIT_SCALE: String(rateLimitScale),
      SESSION_KEYS: sessionKeys,
      MODEL: 'scripted',
      ...(mongodbUri ? { MONGODB_URI: mongodbUri } : {}),
      ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
      ...(s3 ? { S3_ENDPOINT: s3.endpoint, S3_ACCESS_KEY_ID: s3.keyId, S3_SECRET_ACCESS_KEY: s3.secret } : {}),
    }),
  )
}

/** The session keys that all nodes of a run share. */
const sessionKeys = `bench:${Buffer.alloc(32, 7).toString('base64')}`

export interface Driver {
  tell(order: Order): Promise<void>
  saturate(order: Extract<Order, { order: 'saturate' }>): Promise<Saturated>
  pace(order: Extract<Order, { order: 'pace' | 'scatter' }>): Promise<Paced>
}

/** The process that simulates the people. Throws if a run was incomplete. */
export function startDriver(): Driver {
  const child = start(1, [...source, 'test/bench/driver.ts'], {})
  const ask = async (order: Order): Promise<Answer['result']> => {
    const { result, faults } = await asked<Answer>(child, order)
    if (faults.length > 0) throw new Error(`This run is void: ${[...new Set(faults)].slice(0, 5).join('; ')}`)
    return result
  }
  return {
    tell: async (order) => void (await ask(order)),
    saturate: async (order) => (await ask(order)) as Saturated,
    pace: async (order) => (await ask(order)) as Paced,
  }
}

async function listening(child: ChildProcess): Promise<Measured> {
  const startedAt = performance.now()
  const url = await addressOf(child)
  const startMilliseconds = performance.now() - startedAt
  return { url, pid: child.pid ?? 0, startMilliseconds, probe: (what = 'probe') => asked<Reading>(child, what) }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}`)))
    child.stdout?.on('data', (text: Buffer) => {
      const url = /open: (http:\S+)/.exec(text.toString())?.[1]
      if (url) resolve(url)
    })
  })
}

function asked<T>(child: ChildProcess, message: Order | Probe): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (answer) => resolve(answer as T))
    child.send(message, (error) => error && reject(error))
  })
}

export async function stopAll(): Promise<void> {
  for (const child of children.splice(0)) {
    const isOver = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode !== null || !child.kill('SIGTERM')) continue
    await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 15_000).unref())])
    child.kill('SIGKILL')
  }
}
