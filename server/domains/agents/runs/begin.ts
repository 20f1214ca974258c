import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { refusalFrom } from '#server/kernel/http/deadline'
import { newId } from '#server/kernel/ids'
import { readDuplicate } from '#server/kernel/store/read-back'
import { every } from '#server/kernel/work/every'
import { isDuplicate } from '#server/ports/database/port'
import { type CutShort, type FrameBody, RunFailure } from '#shared/api/agents/run-frames'
import { AppError, type ErrorCode, errors } from '#shared/errors'
import { failedRun, generationFailedText, StoppedRun } from './answer-lines.ts'
import { FrameLog, framesFrom, runOutcomeOf, storedFrames, storeFrames } from './frame-store.ts'
import { ownChatPlace } from './history.ts'
import { Runs, type StoredRun } from './model.ts'
import { holdRun, isRunHere, releaseRun } from './relay.ts'
import { releaseQuestionPlaces, settleRun, takeQuestionPlaces } from './settle.ts'
import { RunWriter } from './writer.ts'

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

const longestMilliseconds = 300_000
/** Frames come at least this often, as a sign of life. */
const silenceMilliseconds = 10_000
const watchMilliseconds = 1_000
const retryMilliseconds = 1_000
/** The retry time after too many questions. */
const retrySeconds = 5

/** The end of an answer, beside its text. */
export interface RunEnding {
  scheduling: StoredRun['scheduling']
  inputTokens: number | null
  outputTokens: number | null
  /** Null for a whole answer. */
  cutShort: CutShort | null
}

/** A run in progress at this node. */
export interface OpenRun {
  run: StoredRun
  /** Adds a frame. */
  tell: (body: FrameBody) => void
  /** Aborted to stop the run. */
  signal: AbortSignal
  /** Ends the run when this settles. */
  endWith(ending: Promise<RunEnding>): Promise<void>
}

const beingTaken = 'This question is being taken. Ask it again with the same key'

export interface RunRequest {
  agent: string
  account: string
  place: string
  message: string
  clientRunId?: string | undefined
  /** The session within the conversation. */
  session?: string | undefined
  /** The first question that this one replaces. */
  replaces?: string | undefined
  /** Whether the answer is sent to the room of the question. */
  isToSay?: boolean
}

/** Stores a question and opens its run, or returns the run of the same key. Throws TOO_MANY_QUESTIONS and SERVICE_UNAVAILABLE unless owed. */
export async function beginRun(
  node: Node,
  ask: RunRequest,
  isOwed = false,
): Promise<{ run: StoredRun; open: OpenRun | null }> {
  const run = newRun(node, ask)
  const log = new FrameLog(run._id)
  const stop = holdRun(node, log)
  try {
    const known = await storeRun(node, run, ask, isOwed)
    if (!known) return { run, open: openRun(node, run, log, stop) }
    releaseRun(node, run._id)
    return { run: known, open: null }
  } catch (error) {
    releaseRun(node, run._id)
    throw error
  }
}

/** Null if it was stored now; else the run of the same key. */
async function storeRun(node: Node, run: StoredRun, ask: RunRequest, isOwed: boolean): Promise<StoredRun | null> {
  const places = isOwed ? 'taken' : await takeQuestionPlaces(node, run, ask.place === ownChatPlace)
  if (places !== 'taken') {
    const known = await (places === 'asked' ? readDuplicate(() => knownRun(ask)) : knownRun(ask))
    if (known) return known
    if (places === 'asked') throw new AppError('SERVICE_UNAVAILABLE', { message: beingTaken, retryAfter: 1 })
    throw new AppError('TOO_MANY_QUESTIONS', { retryAfter: retrySeconds })
  }
  try {
    await Runs.create(run)
    return null
  } catch (error) {
    if (!isDuplicate(error)) throw error
    if (!isOwed) await releaseQuestionPlaces(run)
    return sameRun(ask)
  }
}

/** The run of the same key, if any. */
export async function knownRun(ask: RunRequest): Promise<StoredRun | null> {
  const { account, clientRunId } = ask
  if (clientRunId === undefined) return null
  const first = await Runs.findOne({ account, client_run_id: clientRunId }).lean<StoredRun>()
  return first && sameRequest(first, ask)
}

async function sameRun(ask: RunRequest): Promise<StoredRun> {
  const { account, clientRunId } = ask
  return sameRequest(
    await readDuplicate(() => Runs.findOne({ account, client_run_id: clientRunId ?? '' }).lean<StoredRun>()),
    ask,
  )
}

function sameRequest(first: StoredRun | null, { agent, place, message, isToSay }: RunRequest): StoredRun {
  if (first && first.agent_id === agent && first.place === place && first.message === message) return first
  const what = isToSay ? 'This message was answered' : 'This client_run_id was used'
  throw new AppError('CONFLICT', { message: `${what} for another question` })
}

/** A new run of a question. */
export function newRun(node: Node, ask: RunRequest): StoredRun {
  const { agent, account, place, message, clientRunId, session, replaces, isToSay } = ask
  const id = newId()
  return {
    _id: id,
    agent_id: agent,
    account,
    place,
    ...(session !== undefined && { session }),
    ...(replaces !== undefined && { replaces }),
    client_run_id: clientRunId ?? id,
    user_message_id: newId(),
    message_id: newId(),
    message,
    state: 'running',
    node: node.id,
    cancelled_by: null,
    content: '',
    ...(isToSay && { to_say: node.id }),
    error_code: null,
    citations: [],
    scheduling: null,
    input_tokens: null,
    output_tokens: null,
    milliseconds: null,
    created_at: new Date(node.now()),
    ended_at: null,
  }
}

function openRun(node: Node, run: StoredRun, log: FrameLog, stop: AbortController): OpenRun {
  const { signal } = stop
  const writer = new RunWriter(node, log)
  writer.lost.signal.addEventListener('abort', () => stop.abort())
  const openedAt = performance.now()
  let began = openedAt
  let toldAt = openedAt
  let isQueued = false
  const tell = (body: FrameBody) => {
    toldAt = performance.now()
    // The time of an answer counts from its turn.
    if (isQueued) began = toldAt
    isQueued = body.t === 'status' && body.phase === 'queued'
    if (!signal.aborted) writer.write(body)
  }
  const watch = setInterval(() => {
    const now = performance.now()
    if (!isQueued && now - began > longestMilliseconds) stop.abort(failedRun('TIMEOUT', 'The answer took too long'))
    else if (now - toldAt > silenceMilliseconds)
      tell({ t: 'status', phase: isQueued ? 'queued' : 'generating', detail: null })
  }, watchMilliseconds)
  return {
    run,
    tell,
    signal,
    async endWith(ending) {
      try {
        const last = await lastFrame(node, run, writer, signal, openedAt, ending)
        // Leftover work is stopped too, and adds nothing after the last frame.
        stop.abort()
        writer.write(last)
        await writer.ended()
        await untilSettled(node, run, log, writer.lost.signal)
      } finally {
        clearInterval(watch)
        releaseRun(node, run._id)
      }
    },
  }
}

/** The end is in the frames; settling is retried until the store answers. A lost run gets its stored end. */
async function untilSettled(node: Node, run: StoredRun, log: FrameLog, lost: AbortSignal): Promise<void> {
  for (;;) {
    try {
      if (!lost.aborted) return await settleRun(node, run, log.frames)
      const kept = await endLostRun(node, run)
      if (kept) return log.endWith(kept)
    } catch (error) {
      node.logger.warn({ error, run: run._id }, 'the end of an answer was not stored; it is tried again')
      await sleep(retryMilliseconds, undefined, { ref: false })
    }
  }
}

async function lastFrame(
  node: Node,
  run: StoredRun,
  writer: RunWriter,
  signal: AbortSignal,
  openedAt: number,
  ending: Promise<RunEnding>,
): Promise<FrameBody> {
  const partial = () => (writer.text === '' ? null : run.message_id)
  try {
    const { scheduling, inputTokens, outputTokens, cutShort } = await ending
    const usage = {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      ms: Math.round(performance.now() - openedAt),
    }
    const cut = cutShort ? { cut_short: cutShort } : {}
    return { t: 'done', message: writer.text, message_id: run.message_id, usage, scheduling, ...cut }
  } catch (error) {
    const { reason } = signal
    if (signal.aborted && reason instanceof StoppedRun) return reason.last(partial())
    if (error instanceof StoppedRun) return error.last(partial())
    const refusal = refusalFrom(error)
    const failure = failureBy(refusal)
    if (forOperators.includes(failure)) node.logger.error({ error, run: run._id, failure }, 'an answer failed')
    const isOurs = refusal !== null && !ofTheModel.includes(refusal.code)
    return failedRun(failure, isOurs ? refusal.message : generationFailedText).last(partial())
  }
}

const ofTheModel: readonly ErrorCode[] = ['UPSTREAM_ERROR', 'TIMEOUT']
/** Failures that last until an operator acts. */
const forOperators: readonly RunFailure[] = ['INTERNAL_ERROR', 'MODEL_REFUSED']

/** The failure of a run by an error; null is an unexpected one. */
const failureBy = (refusal: AppError | null): RunFailure =>
  failureOf(refusal?.details?.failure) ?? failureOf(refusal?.code) ?? 'INTERNAL_ERROR'

const failureOf = (code: unknown): RunFailure | undefined => RunFailure.safeParse(code).data
