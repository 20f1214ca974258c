import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Node } from '#server/kernel/context'
import { runFrame } from '#shared/api/agents/agent-runs'
import { isTerminal, type RunFrame } from '#shared/api/agents/run-frames'
import { FrameLog } from './frame-log.ts'
import { framesFrom } from './frame-store.ts'
import type { StoredRun } from './model.ts'
import { followRun } from './relay.ts'

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
