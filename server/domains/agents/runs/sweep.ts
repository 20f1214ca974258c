import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import type { FrameBody } from '#shared/api/run-frames'
import { errors } from '#shared/errors'
import { framesFrom, runOutcomeOf, storedFrames, storeFrames } from './frame-store.ts'
import { Runs, type StoredRun } from './model.ts'
import { isRunHere } from './relay.ts'
import { settleRun } from './settle.ts'

const sweepMilliseconds = 1_000
/** A node that is missing in so many sweeps in a row is taken to be gone. It is missing within six seconds: an answer is ended within eight. */
const mostMissed = 2
const atOnce = 500
const sweepOwnMilliseconds = 10_000
const ownAtOnce = 5_000
const youngMilliseconds = 10_000

/** Ends runs that nobody works on any more, with what was written of them. */
export function sweepRuns(node: Node): () => void {
  /** In how many sweeps in a row the node of a run was missing. */
  const missed = new Map<string, number>()

  /** Runs of other nodes that are gone. */
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

  /** Runs of this node that it does not know, as the store did not answer when they were stored. */
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

/**
 * Puts an end to a run unless it has one, behind what is stored of it. Of several nodes that try, and the one that worked on it, one succeeds.
 * Returns the frames that are kept, the end among them; null where the node that works on it has come further.
 */
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
