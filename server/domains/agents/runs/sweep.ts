import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import type { FrameBody } from '#shared/api/agents/run-frames'
import { errors } from '#shared/errors'
import { framesFrom, runOutcomeOf, storedFrames, storeFrames } from './frame-store.ts'
import { Runs, type StoredRun } from './model.ts'
import { isRunHere } from './relay.ts'
import { settleRun } from './settle.ts'

/** A node that is missing in so many sweeps is gone. It shows within six seconds; an answer ends within eight. */
const mostMissed = 2
const sweepMilliseconds = 10_000
const atOnce = 5_000
const youngMilliseconds = 10_000

/** Ends runs without a node, with their written text. A timed-out write may have stored unknown runs of this node. */
export function sweepRuns(node: Node): () => void {
  /** Sweeps in a row in which the run's node was missing. */
  const missed = new Map<string, number>()

  function isLost({ _id, node: worker, created_at }: StoredRun): boolean {
    if (worker === node.id) return !isRunHere(node, _id) && node.now() - created_at.getTime() >= youngMilliseconds
    return node.alone || (missed.get(_id) ?? 0) >= mostMissed
  }

  async function sweep(): Promise<boolean> {
    const others = node.alone ? [] : [...node.nodes.live()].filter((id) => id !== node.id)
    const found = await Runs.find({ state: 'running', node: { $nin: others } })
      .limit(atOnce)
      .lean<StoredRun[]>()
    const gone = new Set(found.filter((run) => run.node !== node.id).map(({ _id }) => _id))
    for (const id of missed.keys()) if (!gone.has(id)) missed.delete(id)
    for (const id of gone) missed.set(id, (missed.get(id) ?? 0) + 1)
    for (const run of found) if (isLost(run)) await endLostRun(node, run)
    return gone.size > 0
  }
  return every(node, sweepMilliseconds, sweep, 'lost answers were not ended', node.nodes.onChange)
}

/** Ends a run behind its stored frames; of several nodes one succeeds. Returns all frames; null if its node is ahead. */
export async function endLostRun(node: Node, run: StoredRun): Promise<FrameBody[] | null> {
  const frames = await framesFrom(run._id, 0)
  const { text, end } = runOutcomeOf(frames)
  if (!end) {
    const partial_message_id = text === '' ? null : run.message_id
    const last = { t: 'error' as const, code: 'RUN_LOST', text: errors.RUN_LOST[1], partial_message_id, message: text }
    const taken = await storeFrames([storedFrames(run._id, frames.length, [last], node.id, node.now())])
    if (taken.has(run._id)) return null
    frames.push(last)
  }
  await settleRun(node, run, frames)
  return frames
}
