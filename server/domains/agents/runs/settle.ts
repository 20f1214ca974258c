import { Agents } from '#server/domains/agents/agent-state/model'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { isDuplicate } from '#server/ports/database/port'
import { type FrameBody, isTerminal } from '#shared/api/agents/run-frames'
import { framesFrom, runOutcomeOf } from './frame-store.ts'
import {
  forgottenPlace,
  OpenPlaces,
  RunFrames,
  type RunState,
  Runs,
  type StoredFrames,
  type StoredPlaces,
  type StoredRun,
} from './model.ts'

const mostToAgent = 5
const mostOfAccount = 20
/** A place without a stored run after so long is free. */
const storedMilliseconds = 60_000
const keptMilliseconds = 2 * 86_400_000
/** Enough for a document that another request creates. */
const mostTries = 3

type Asked = Pick<StoredRun, '_id' | 'agent_id' | 'account' | 'client_run_id'>
/** `asked`: the same question has a place, and may not be stored yet. */
type PlaceOutcome = 'taken' | 'full' | 'asked'

const idsOf = ({ agent_id, account }: Pick<Asked, 'agent_id' | 'account'>) =>
  [`${account} ${agent_id}`, account] as const

/** Takes places for a question before it is stored: to its agent if private, and of the asker. */
export async function takeQuestionPlaces(node: Node, run: Asked, isInPrivate: boolean): Promise<PlaceOutcome> {
  const [toAgent, ofAccount] = idsOf(run)
  const first = isInPrivate ? await take(node, toAgent, run, mostToAgent) : 'taken'
  const outcome = first === 'taken' ? await take(node, ofAccount, run, mostOfAccount) : first
  if (outcome !== 'taken') await releaseQuestionPlaces(run)
  return outcome
}

/** Releases the places of a question, if any. */
export const releaseQuestionPlaces = (run: Pick<Asked, '_id' | 'agent_id' | 'account'>): Promise<void> =>
  releasePlaces(idsOf(run), run._id)

async function releasePlaces(ids: readonly string[], run: string): Promise<void> {
  await OpenPlaces.updateMany(
    { _id: { $in: [...ids] }, 'open.run': run },
    { $pull: { open: { run } }, $inc: { count: -1 } },
  )
}

async function take(node: Node, _id: string, run: Asked, most: number): Promise<PlaceOutcome> {
  const at = new Date(node.now())
  const place = { run: run._id, key: run.client_run_id, at }
  const expires_at = new Date(at.getTime() + keptMilliseconds)
  for (let tries = 0; tries < mostTries; tries++) {
    const { matchedCount } = await OpenPlaces.updateOne(
      { _id, count: { $lt: most } },
      { $push: { open: place }, $inc: { count: 1 }, $set: { expires_at } },
    )
    if (matchedCount === 1) return 'taken'
    const known = await OpenPlaces.findOne({ _id }).lean<StoredPlaces>()
    if (!known) {
      if (await isMade({ _id, open: [place], count: 1, expires_at })) return 'taken'
    } else if (known.count >= most && !(await takeOutEnded(node, known)))
      return known.open.some(({ key }) => key === run.client_run_id) ? 'asked' : 'full'
  }
  return 'full'
}

async function isMade(places: StoredPlaces): Promise<boolean> {
  try {
    await OpenPlaces.create(places)
    return true
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return false
  }
}

/** Releases places of ended runs whose node died; true if there were any. */
async function takeOutEnded(node: Node, { _id, open }: StoredPlaces): Promise<boolean> {
  const runs = await Runs.find({ _id: { $in: open.map(({ run }) => run) } })
    .select({ state: 1 })
    .lean<{ _id: string; state: RunState }[]>()
  const states = new Map(runs.map((run) => [run._id, run.state]))
  const isOver = ({ run, at }: StoredPlaces['open'][number]) =>
    states.has(run) ? states.get(run) !== 'running' : node.now() - at.getTime() > storedMilliseconds
  const over = open.filter(isOver).map(({ run }) => run)
  for (const run of over) await releasePlaces([_id], run)
  return over.length > 0
}

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
