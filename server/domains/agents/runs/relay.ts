import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Connection, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerTopic } from '#server/kernel/peer-message'
import { runFrame } from '#shared/api/agents/agent-runs'
import { type FrameBody, isTerminal, type RunFrame } from '#shared/api/agents/run-frames'
import { errors } from '#shared/errors'
import { cancelledRun, failedRun } from './answer-lines.ts'
import { FrameLog, framesFrom, runOutcomeOf } from './frame-store.ts'
import { Runs, type StoredRun } from './model.ts'

/** How long another node gets a run's frames after it requested them. */
const interestMilliseconds = 30_000
const renewMilliseconds = 10_000
const pollMilliseconds = 500
/** Without peer messages stops are polled, so that an unwanted model stops soon. */
const stopMilliseconds = 25
/** While frames arrive in order, the store is read rarely. */
const seldomMilliseconds = 3_000

type Followed = Pick<StoredRun, '_id' | 'account' | 'node'>

interface Watched {
  log: FrameLog
  readers: number
  end(): void
}

const relayOn = nodeState(() => ({
  /** The runs of this node. */
  here: new Map<string, FrameLog>(),
  /** Their stops. */
  stops: new Map<string, AbortController>(),
  /** Runs of other nodes with readers here. */
  elsewhere: new Map<string, Watched>(),
  /** Runs of this node with readers elsewhere, and until when they get frames. */
  wanted: new Map<string, number>(),
  /** Waiters for the end of a run. */
  waiting: new Map<string, Set<() => void>>(),
}))

const Frames = z.custom<readonly FrameBody[]>(Array.isArray)
const framesTopic = definePeerTopic('run:', z.object({ from_idx: z.number(), frames: Frames }))
const wantedTopic = definePeerTopic('run-wanted:', z.object({ run: z.string() }))
const stopTopic = definePeerTopic('run-stop:', z.object({ run: z.string() }))

/** Registers a run of this node, and returns its stop. */
export function holdRun(node: Node, log: FrameLog): AbortController {
  const stop = new AbortController()
  relayOn(node).here.set(log.id, log)
  relayOn(node).stops.set(log.id, stop)
  return stop
}
export const releaseRun = (node: Node, run: string): void => {
  const { here, stops, wanted, waiting } = relayOn(node)
  here.delete(run)
  stops.delete(run)
  wanted.delete(run)
  for (const wake of [...(waiting.get(run) ?? [])]) wake()
}

/** Resolves when the run is released, at an abort, or after some time. */
export function untilReleased(node: Node, run: string, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { waiting } = relayOn(node)
  const all = waiting.get(run) ?? new Set()
  waiting.set(run, all)
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', over)
      all.delete(over)
      if (all.size === 0 && waiting.get(run) === all) waiting.delete(run)
      resolve()
    }
    const timer = setTimeout(over, milliseconds)
    signal?.addEventListener('abort', over)
    all.add(over)
    if (signal?.aborted) over()
  })
}
export const isRunHere = (node: Node, run: string): boolean => relayOn(node).here.has(run)
export const runsHere = (node: Node): ReadonlyMap<string, FrameLog> => relayOn(node).here

/** Follows the interest of other nodes in runs. */
export const followInterest = (node: Node): (() => void) =>
  wantedTopic.listen(node, node.id, ({ run }) => {
    const { here, wanted } = relayOn(node)
    const log = here.get(run)
    if (!log) return
    const isNew = !wanted.has(run)
    wanted.set(run, performance.now() + interestMilliseconds)
    // Earlier frames are read from the store.
    if (isNew && log.frames.length > log.stored) sendFramesToNodes(node, run, log.stored, log.frames.slice(log.stored))
  })

/** Sends frames from an idx to nodes with readers. The store makes up for lost messages. */
export function sendFramesToNodes(node: Node, run: string, from_idx: number, frames: readonly FrameBody[]): void {
  const until = relayOn(node).wanted.get(run)
  if (until === undefined) return
  if (until < performance.now()) relayOn(node).wanted.delete(run)
  else framesTopic.tell(node, run, { from_idx, frames })
}

/** Follows a running run on any node until `release`. */
async function followRun(node: Node, followed: Followed): Promise<{ log: FrameLog; release: () => void }> {
  const { _id: run } = followed
  const here = relayOn(node).here.get(run)
  if (here) return { log: here, release: () => undefined }
  const known = relayOn(node).elsewhere.get(run) ?? watch(node, followed)
  known.readers += 1
  const release = () => {
    known.readers -= 1
    if (known.readers === 0) known.end()
  }
  try {
    if (known.log.frames.length === 0) known.log.take(0, await framesFrom(run, 0))
  } catch (error) {
    release()
    throw error
  }
  return { log: known.log, release }
}

function watch(node: Node, { _id: run, node: worker, account }: Followed): Watched {
  const { elsewhere } = relayOn(node)
  const log = new FrameLog(run)
  let heardAt = Number.NEGATIVE_INFINITY
  /** The number of frames by peer messages; the store may have fewer. */
  let known = 0
  let isReading = false
  const readOn = async () => {
    if (isReading || log.isOver) return
    isReading = true
    try {
      if ((await takeStored(log)) || (await isRunning(run))) return
      const kept = await framesFrom(run, 0)
      if (runOutcomeOf(kept).end) log.endWith(kept)
      // It was deleted with its end while it was written.
      else log.take(log.frames.length, [{ t: 'cancelled', by: account, partial_message_id: null }])
    } finally {
      isReading = false
    }
  }
  const readQuietly = () => void readOn().catch(() => undefined)
  const stop = framesTopic.listen(node, run, ({ from_idx, frames }) => {
    heardAt = performance.now()
    known = from_idx + frames.length
    if (!log.take(from_idx, frames)) readQuietly()
  })
  const want = () => wantedTopic.tell(node, worker, { run })
  want()
  const wanting = setInterval(want, renewMilliseconds)
  const polling = setInterval(() => {
    if (log.frames.length < known || performance.now() - heardAt > seldomMilliseconds) readQuietly()
  }, pollMilliseconds)
  const watched: Watched = {
    log,
    readers: 0,
    end() {
      elsewhere.delete(run)
      clearInterval(wanting)
      clearInterval(polling)
      stop()
    },
  }
  elsewhere.set(run, watched)
  return watched
}

/** True if there were new frames. */
async function takeStored(log: FrameLog): Promise<boolean> {
  const from = log.frames.length
  log.take(from, await framesFrom(log.id, from))
  return log.frames.length > from
}

const isRunning = async (run: string): Promise<boolean> => (await Runs.exists({ _id: run, state: 'running' })) !== null

/** Requests a stop from the run's node. */
export const requestStop = (node: Node, { _id: run, node: worker }: { _id: string; node: string }): void =>
  stopTopic.tell(node, worker, { run })

/** Stops a run of this node. */
export const stopRun = (node: Node, run: string, by: string): void =>
  relayOn(node).stops.get(run)?.abort(cancelledRun(by))

/** Ends all runs at the stop of this node. */
export function stopAllRuns(node: Node): void {
  for (const stop of relayOn(node).stops.values()) stop.abort(failedRun('RUN_LOST', errors.RUN_LOST[1]))
}

/** Stops runs of this node on request of any node. */
export function followStops(node: Node): () => void {
  let isLooking = false
  let lookedAt = 0
  const look = async () => {
    lookedAt = performance.now()
    const found = await Runs.find({ stop_at: node.id, state: 'running' })
      .select({ cancelled_by: 1 })
      .lean<{ _id: string; cancelled_by: string }[]>()
    for (const { _id, cancelled_by } of found) stopRun(node, _id, cancelled_by)
  }
  const lookQuietly = () => void look().catch(() => undefined)
  const lookOnce = async () => {
    const isPressing = !node.peers.isUp() || performance.now() - lookedAt >= pollMilliseconds
    if (isLooking || !isPressing || relayOn(node).here.size === 0) return
    isLooking = true
    await look().catch(() => undefined)
    isLooking = false
  }
  const silence = stopTopic.listen(node, node.id, lookQuietly)
  const timer = node.alone ? undefined : setInterval(() => void lookOnce(), stopMilliseconds).unref()
  return () => {
    silence()
    clearInterval(timer)
  }
}

const waitMilliseconds = 5_000
const lookAgainMilliseconds = 25

/** The frames of a run after one, each as it comes, up to the last. */
export async function* framesAfter(
  node: Node,
  run: Pick<StoredRun, '_id' | 'account' | 'node' | 'state'>,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunFrame> {
  const { log, release } = await openFrameLog(node, run)
  try {
    for (let idx = after + 1; ; idx++) {
      let frame = log.frame(idx)
      while (!frame && !signal.aborted) {
        if (log.isOver || run.state !== 'running') return
        await log.reached(idx, signal, waitMilliseconds)
        frame = log.frame(idx)
      }
      if (!frame || signal.aborted) return
      yield frame
      if (isTerminal(frame)) return
    }
  } finally {
    release()
  }
}

/** The known frames of a run; they grow while it runs. */
export async function openFrameLog(node: Node, run: Pick<StoredRun, '_id' | 'account' | 'node' | 'state'>) {
  if (run.state === 'running') return followRun(node, run)
  const log = new FrameLog(run._id)
  log.take(0, await framesFrom(run._id, 0))
  return { log, release: () => undefined }
}

const followed = 'runs'

const remembered = 200

/** The runs whose frames a connection gets, or lately got, with their stops; all stop when it closes. */
function followedOn(connection: Connection): Map<string, AbortController> {
  const known = connection.memory.get(followed) as Map<string, AbortController> | undefined
  if (known) return known
  const runs = new Map<string, AbortController>()
  connection.memory.set(followed, runs)
  connection.onClose(() => {
    for (const one of runs.values()) one.abort()
  })
  return runs
}

/** Whether a connection gets the frames of a run, or got all of them. */
export const hasFrames = (connection: Connection, run: StoredRun): boolean => followedOn(connection).has(run._id)

/** Sends a connection the frames of a run after one, as fast as it reads. A second call replaces the first. */
export function sendFrames(node: Node, connection: Connection, run: StoredRun, after: number): void {
  const known = followedOn(connection)
  known.get(run._id)?.abort()
  const gone = new AbortController()
  known.set(run._id, gone)
  const [oldest = ''] = known.keys()
  if (known.size > remembered) known.delete(oldest)
  if (!connection.isOpen) gone.abort()
  const send = async () => {
    for await (const frame of framesAfter(node, run, after, gone.signal)) {
      while (connection.isBusyReading && !gone.signal.aborted) await sleep(lookAgainMilliseconds)
      if (gone.signal.aborted) return
      connection.emit(runFrame, frame)
    }
  }
  void send().catch((error: unknown) => {
    node.logger.warn({ error, run: run._id }, 'the frames of a run could not be sent')
    if (known.get(run._id) === gone) known.delete(run._id)
  })
}
