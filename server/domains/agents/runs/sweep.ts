import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import type { FrameBody } from '#shared/api/agents/run-frames'
import { errors } from '#shared/errors'
import { framesFrom, runOutcomeOf, storedFrames, storeFrames } from './frame-store.ts'
import { Runs, type StoredRun } from './model.ts'
import { isRunHere } from './relay.ts'
import { settleRun } from './settle.ts'

const sweepMilliseconds = 1_000
/** A node that is missing in so many sweeps is gone. It shows within six seconds; an answer ends within eight. */
const mostMissed = 2
const atOnce = 500
const sweepOwnMilliseconds = 10_000
const ownAtOnce = 5_000
const youngMilliseconds = 10_000

/** Ends runs without a node, with their written text. */
export function sweepRuns(node: Node): () => void {
  /** Sweeps in a row in which the run's node was missing. */
  const missed = new Map<string, number>()

  /** Runs of dead nodes. */
  async function sweepOthers(): Promise<void> {
    const live = node.alone ? [node.id] : [...node.nodes.live(), node.id]
    const found = await Runs.find({ state: 'running', node: { $nin: live } })
      .limit(atOnce)
      .lean<StoredRun[]>()
    const known = new Set(found.map(({ _id }) => _id))
    for (const id of missed.keys()) if (!known.has(id)) missed.delete(id)
    for (const run of found) {
      const times = (missed.get(run._id) ?? 0) + 1
      missed.set(run._id, times)
      if (times >= mostMissed || node.alone) await endLostRun(node, run)
    }
  }

  /** Unknown runs of this node, whose store timed out when they were stored. */
  async function sweepOwn(): Promise<void> {
    const found = await Runs.find({ state: 'running', node: node.id }).limit(ownAtOnce).lean<StoredRun[]>()
    for (const run of found) {
      const isYoung = node.now() - run.created_at.getTime() < youngMilliseconds
      if (!isYoung && !isRunHere(node, run._id)) await endLostRun(node, run)
    }
  }

  const ends = [
    every(node, sweepMilliseconds, sweepOthers, 'answers of lost nodes were not ended'),
    every(node, sweepOwnMilliseconds, sweepOwn, 'lost answers of this node were not ended'),
  ]
  return () => {
    for (const end of ends) end()
  }
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
