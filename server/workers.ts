import cluster, { type Worker } from 'node:cluster'
import { parseArgs } from 'node:util'
import type { Config } from './config.ts'
import { closeUntaken } from './hand-offs.ts'
import { createCrewMetrics } from './kernel/operate/metrics.ts'
import { openOps } from './kernel/operate/ops.ts'
import { ConfigError } from './kernel/settings.ts'
import type { Part } from './platform/part.ts'

/** What a worker tells the primary. */
export type WorkerMessage =
  | { kind: 'ready'; url: string; parts: readonly Part[] }
  | { kind: 'health'; reason: string | null; degraded: readonly string[] }
  | { kind: 'figures'; figures: object }
/** What the primary tells a worker. */
export type Order =
  | { kind: 'drain' }
  | { kind: 'figures' }
  /** The people of the demo live here; they live once. */
  | { kind: 'live' }

interface Member {
  slot: number
  worker: Worker
  isReady: boolean
  isDraining: boolean
  /** Why it should get no traffic; null where all is well. */
  reason: string | null
  degraded: readonly string[]
  heardAt: number
  startedAt: number
  exited: Promise<number>
}

const stopMilliseconds = 15_000
const figuresMilliseconds = 2_000
const silentMilliseconds = 3_000
const hungMilliseconds = 30_000
const steadyMilliseconds = 60_000
const backOff = { first: 250, last: 30_000 }

/** How many workers the command line asks for; null where it says nothing of them. */
export function requestedWorkers(args: readonly string[], config: Config): number | null {
  const { values } = parseArgs({ args: [...args], options: { workers: { type: 'string' } } })
  if (values.workers === undefined) return null
  const count = Number(values.workers)
  if (!Number.isInteger(count) || count < 1 || count > 128)
    throw new ConfigError('--workers is not usable: must be a whole number from 1 to 128.')
  if (config.mongodbUri) return count
  if (count > 1)
    throw new ConfigError('--workers above 1 needs MONGODB_URI: the embedded store belongs to one process.')
  return null
}

/** The primary: holds the port, keeps so many workers listening, and serves the figures of all. */
export async function runWorkers(
  config: Config,
  count: number,
  tell: (url: string, parts: readonly Part[]) => void,
): Promise<void> {
  const crew = new Set<Member>()
  const crewMetrics = createCrewMetrics()
  const deaths = new Map<number, number>()
  let isStopping = false
  let isRestarting = false

  const first = await start(0)
  await Promise.all(Array.from({ length: count - 1 }, (_, at) => start(at + 1)))
  const ops = await openOps(config.ops, {
    degraded: async () => [...new Set(ready().flatMap(({ degraded }) => degraded))],
    metrics: async () => crewMetrics.text(await figures()),
    health: () => ({ workers: ready().length }),
    unready: async () => unready(),
  })
  const watch = setInterval(endHung, silentMilliseconds).unref()
  tell(first.url, [
    ...first.parts,
    {
      part: 'workers',
      adapter: String(count),
      why: `process ${process.pid} leads them: SIGTERM ends them one by one, SIGHUP renews them one by one`,
    },
  ])
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => void restart())

  function start(slot: number): Promise<{ url: string; parts: readonly Part[] }> {
    const worker = cluster.fork()
    closeUntaken(worker.process)
    const exited = new Promise<number>((resolve) => worker.once('exit', (code) => resolve(code ?? 1)))
    const at = performance.now()
    const member: Member = {
      ...{ slot, worker, exited, heardAt: at, startedAt: at },
      ...{ isReady: false, isDraining: false, reason: 'starting', degraded: [] },
    }
    crew.add(member)
    return new Promise((resolve, reject) => {
      // A message to a worker that has just died fails.
      worker.on('error', () => {})
      worker.on('message', (told: WorkerMessage) => {
        member.heardAt = performance.now()
        if (told.kind === 'health') Object.assign(member, { reason: told.reason, degraded: told.degraded })
        if (told.kind !== 'ready') return
        Object.assign(member, { isReady: true, reason: null })
        crewMetrics.listening(ready().length)
        if (slot === 0) worker.send({ kind: 'live' } satisfies Order)
        resolve(told)
      })
      void exited.then((code) => {
        crew.delete(member)
        crewMetrics.listening(ready().length)
        reject(new WorkerEnded(code))
        if (member.isReady && !member.isDraining && !isStopping) void replace(member)
      })
    })
  }

  function ready(): Member[] {
    return [...crew].filter(({ isReady, isDraining }) => isReady && !isDraining)
  }

  function unready(): string | null {
    const heard = ready().filter(({ heardAt }) => performance.now() - heardAt < silentMilliseconds)
    if (heard.some(({ reason }) => reason === null)) return null
    return heard[0]?.reason ?? 'no worker answers'
  }

  /** Of every worker that answers in time. */
  async function figures(): Promise<object[]> {
    const answers = await Promise.all(
      ready().map(({ worker }) => {
        const answer = new Promise<object>((resolve) => {
          const hear = (told: WorkerMessage) => {
            if (told.kind !== 'figures') return
            worker.off('message', hear)
            resolve(told.figures)
          }
          worker.on('message', hear)
        })
        worker.send({ kind: 'figures' } satisfies Order)
        return Promise.race([answer, pause(figuresMilliseconds).then(() => null)])
      }),
    )
    return answers.filter((figures) => figures !== null)
  }

  /** Starts workers until one stays up, with longer waits while they die early. */
  async function replace({ slot, startedAt }: Member): Promise<void> {
    if (performance.now() - startedAt > steadyMilliseconds) deaths.delete(slot)
    for (;;) {
      const before = deaths.get(slot) ?? 0
      deaths.set(slot, before + 1)
      await pause(Math.min(backOff.first * 2 ** before, backOff.last))
      // A restart may have filled the place meanwhile.
      if (isStopping || [...crew].some((member) => member.slot === slot && !member.isDraining)) return
      crewMetrics.replaced()
      const isUp = await start(slot).then(
        () => true,
        () => false,
      )
      if (isUp || isStopping) return
    }
  }

  /** One new worker up, then one old one drained, in turn: never fewer than before are listening. */
  async function restart(): Promise<void> {
    if (isRestarting || isStopping) return
    isRestarting = true
    try {
      for (const old of ready()) {
        if (!crew.has(old)) continue
        await start(old.slot)
        await drain(old)
        if (isStopping) return
      }
    } catch (error) {
      if (!isStopping) console.error(`The restart ended early, and the others go on as they are: ${error}`)
    } finally {
      isRestarting = false
    }
  }

  async function drain(member: Member): Promise<number> {
    member.isDraining = true
    crewMetrics.listening(ready().length)
    if (!member.isReady || !member.worker.isConnected()) member.worker.process.kill('SIGKILL')
    else member.worker.send({ kind: 'drain' } satisfies Order)
    const late = setTimeout(() => member.worker.process.kill('SIGKILL'), stopMilliseconds)
    return member.exited.finally(() => clearTimeout(late))
  }

  /** In turn, but nobody waits for a slow one longer than leaves time for the others. */
  async function stop(): Promise<void> {
    if (isStopping) return
    isStopping = true
    setTimeout(() => {
      for (const { worker } of crew) worker.process.kill('SIGKILL')
      process.exit(1)
    }, stopMilliseconds).unref()
    clearInterval(watch)
    ops.drain()
    const leaving: Promise<number>[] = []
    for (const member of [...crew].sort((one, other) => one.slot - other.slot)) {
      const left = drain(member)
      leaving.push(member.isReady ? left : Promise.resolve(0))
      await Promise.race([left, pause((stopMilliseconds * 0.4) / crew.size)])
    }
    const codes = await Promise.all(leaving)
    await ops.close()
    process.exit(codes.every((code) => code === 0) ? 0 : 1)
  }

  /** A process that says nothing for long is ended, and so replaced. */
  function endHung(): void {
    for (const { worker, heardAt } of ready())
      if (performance.now() - heardAt > hungMilliseconds) worker.process.kill('SIGKILL')
  }
}

/** A worker that ended before it was ready; it has said why. */
export class WorkerEnded extends Error {
  override readonly name = 'WorkerEnded'
  constructor(code: number) {
    super(`a new worker ended with ${code}`)
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
