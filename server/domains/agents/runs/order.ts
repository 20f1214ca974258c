import { setTimeout } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import type { FrameBody } from '#shared/api/run-frames'
import type { FrameLog } from './frame-log.ts'
import { conversationOf } from './history.ts'
import { Runs, type StoredRun } from './model.ts'
import { runsHere } from './relay.ts'

const lookMilliseconds = 300

/** Waits until every earlier question of the conversation has its answer, so that each knows what was said before it. */
export async function waitForEarlierRuns(
  node: Node,
  run: StoredRun,
  tell: (body: FrameBody) => void,
  signal: AbortSignal,
): Promise<void> {
  let isTold = false
  for (;;) {
    const earlier = await Runs.findOne({ ...conversationOf(run), _id: { $lt: run._id }, state: 'running' })
      .select({ _id: 1 })
      .lean<{ _id: string }>()
    if (!earlier) return
    if (!isTold) tell({ t: 'status', phase: 'queued', detail: null })
    isTold = true
    const here = runsHere(node).get(earlier._id)
    await (here ? untilOver(here, signal) : setTimeout(lookMilliseconds))
    signal.throwIfAborted()
  }
}

/** Waits for the last frame, or for a while: each frame before it changes nothing for who waits. */
async function untilOver(log: FrameLog, signal: AbortSignal): Promise<void> {
  const until = performance.now() + lookMilliseconds
  do await log.reached(log.frames.length, signal, until - performance.now())
  while (!log.isOver && !signal.aborted && performance.now() < until)
}
