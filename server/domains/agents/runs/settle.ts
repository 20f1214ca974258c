import { Agents } from '#server/domains/agents/agent-state/model'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { type FrameBody, isTerminal } from '#shared/api/agents/run-frames'
import { framesFrom, runOutcomeOf } from './frame-store.ts'
import { forgottenPlace, RunFrames, type RunState, Runs, type StoredFrames, type StoredRun } from './model.ts'
import { releaseQuestionPlaces } from './open-questions.ts'

const stateOfFrame = { done: 'done', error: 'failed', cancelled: 'cancelled' } as const satisfies Record<
  string,
  RunState
>

/** Stores the outcome of a run by its frames; any node may repeat it. */
export async function settleRun(node: Node, run: StoredRun, frames: readonly FrameBody[]): Promise<void> {
  const { text, end, citations, sources, tools, scheduling } = runOutcomeOf(frames)
  if (!end) return
  const state = stateOfFrame[end.t as keyof typeof stateOfFrame]
  const place = { $eq: run.place, $ne: forgottenPlace }
  const { matchedCount } = await Runs.updateOne(
    { _id: run._id, state: 'running', place },
    {
      $set: {
        state,
        content: text,
        citations,
        ...(sources.length > 0 ? { sources } : {}),
        tools,
        scheduling,
        ...(end.t === 'done' && end.cut_short ? { cut_short: end.cut_short } : {}),
        error_code: end.t === 'error' ? end.code : null,
        input_tokens: end.t === 'done' ? end.usage.input_tokens : null,
        output_tokens: end.t === 'done' ? end.usage.output_tokens : null,
        milliseconds: end.t === 'done' ? end.usage.ms : null,
        ended_at: new Date(node.now()),
      },
      $unset: { stop_at: 1 },
    },
  )
  if (matchedCount === 0) await forgetEnd(run._id, state)
  await releaseQuestionPlaces(run)
  if (end.t === 'done') countSoon(node, run.agent_id)
  if (!(await Agents.exists({ _id: run.agent_id }))) await forgetRun(run._id)
}

/** The agent was deleted after the question. */
async function forgetRun(run: string): Promise<void> {
  await RunFrames.deleteMany({ run_id: run })
  await Runs.deleteOne({ _id: run })
}

/** Drops the end of a run whose conversation was deleted, or that was settled. */
async function forgetEnd(run: string, state: RunState): Promise<void> {
  const { matchedCount } = await Runs.updateOne(
    { _id: run, state: 'running' },
    { $set: { state }, $unset: { stop_at: 1 } },
  )
  const isKept = await Runs.exists({ _id: run, place: { $ne: forgottenPlace } })
  if (matchedCount === 1 || !isKept) await RunFrames.deleteMany({ run_id: run })
}

/** A run by its frames. A reader of the end may come before its node has settled it: then it is settled here. */
export async function endedRun(node: Node, run: StoredRun): Promise<StoredRun | null> {
  if (run.state !== 'running') return run
  const last = await RunFrames.findOne({ run_id: run._id }).sort({ to_idx: -1 }).lean<StoredFrames>()
  if (!last?.frames.some(isTerminal)) return run
  await settleRun(node, run, await framesFrom(run._id, 0))
  return Runs.findOne({ _id: run._id }).lean<StoredRun>()
}

const countMilliseconds = 200
const countsOf = nodeState(() => new Map<string, NodeJS.Timeout>())

/** Counts an agent's answers once for several simultaneous ends. */
function countSoon(node: Node, agent: string): void {
  const counts = countsOf(node)
  if (counts.has(agent)) return
  const timer = setTimeout(() => {
    counts.delete(agent)
    void countAnswers(agent).catch((error: unknown) => node.logger.warn({ error, agent }, 'answers were not counted'))
  }, countMilliseconds)
  counts.set(agent, timer)
}

async function countAnswers(agent: string): Promise<void> {
  const answers = await Runs.countDocuments({ agent_id: agent, state: 'done' })
  await Agents.updateOne({ _id: agent }, { $max: { message_count: answers } })
}
