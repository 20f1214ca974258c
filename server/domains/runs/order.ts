import type { Node } from '#server/kernel/context'
import type { FrameBody } from '#shared/api/run-frames'
import { conversationOf } from './history.ts'
import { Runs, type StoredRun } from './model.ts'
import { isHere, untilGone } from './relay.ts'

/** For the runs of other nodes. */
const lookMilliseconds = 1_000
/** The end of a run of this node wakes who waits for it; the store is asked in case it was ended by another. */
const seldomMilliseconds = 10_000

/** Waits until every earlier question of the conversation has its answer, so that each knows what was said before it. */
export async function waitForEarlierRuns(
  node: Node,
  run: StoredRun,
  tell: (body: FrameBody) => void,
  signal: AbortSignal,
): Promise<void> {
  let isTold = false
  for (;;) {
    // The newest of them, which waits for the others itself.
    const earlier = await Runs.findOne({ ...conversationOf(run), _id: { $lt: run._id }, state: 'running' })
      .sort({ _id: -1 })
      .select({ _id: 1 })
      .lean<{ _id: string }>()
    if (!earlier) return
    if (!isTold) tell({ t: 'status', phase: 'queued', detail: null })
    isTold = true
    await untilGone(node, earlier._id, isHere(node, earlier._id) ? seldomMilliseconds : lookMilliseconds, signal)
    signal.throwIfAborted()
  }
}
