import { z } from 'zod'
import { agentModel } from '#server/domains/agents/agent-spending/counted-answer'
import { agentOf, agentRefusalOf, visibleAgent } from '#server/domains/agents/agent-state/access'
import { type Action, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import type { QueryFilter } from '#server/ports/database/port'
import { type agentRuns as contract, runBegun } from '#shared/api/agents/agent-runs'
import type { ChatLine } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { beginAnswer } from './answer.ts'
import { answerLines, answerOf, extrasOfAnswer } from './answer-lines.ts'
import { knownRun, type RunRequest } from './begin.ts'
import { noteConversation, removeConversations } from './conversations.ts'
import {
  conversationOf,
  isRoomPlace,
  messagesOf,
  ownChatPlace,
  questionsOf,
  sessionOfRun,
  unnamedSession,
} from './history.ts'
import { forgottenPlace, RunFrames, Runs, type StoredRun } from './model.ts'
import { framesAfter, hasFrames, isRunHere, openFrameLog, sendFrames } from './relay.ts'
import { endedRun } from './settle.ts'
import { stopAndWait } from './stop.ts'

const lookMilliseconds = 1_000
const atOnce = 1_000

const begunMessage = definePeerMessage(
  'run-begun',
  runBegun.payload.extend({ account: z.string() }),
  (node, { account, ...payload }) => node.live.send(runBegun, audiences.account(account), payload),
)
type Begun = Pick<StoredRun, '_id' | 'agent_id' | 'account' | 'client_run_id' | 'session' | 'replaces'>

const noticeOf = ({ _id: run_id, agent_id, client_run_id, session = unnamedSession, replaces }: Begun) => ({
  run_id,
  agent_id,
  client_run_id,
  sessionId: session,
  ...(replaces !== undefined && { replaces }),
})

/** Runs of this node whose start was sent; ended ones are forgotten above a limit. */
const notifiedOn = nodeState(() => new Set<string>())
const manyNotified = 1_000

/** Notifies all connections of the asker of a run, once, from its node. Others find it by `run:active`. */
function notifyBegun(node: Node, run: StoredRun): void {
  const { _id: run_id, account } = run
  const told = notifiedOn(node)
  if (run.node !== node.id || told.has(run_id)) return
  if (told.size >= manyNotified) for (const id of told) if (!isRunHere(node, id)) told.delete(id)
  told.add(run_id)
  begunMessage.publish(node, { ...noticeOf(run), account })
}

/** Forwards starts of other nodes; without peer messages they are read from the store. */
export function followBegun(node: Node): () => void {
  const silence = begunMessage.follow(node)
  let told = new Set<string>()
  const look = async () => {
    if (node.peers.isUp()) return
    const found = await Runs.find({ state: 'running', node: { $ne: node.id }, place: ownChatPlace })
      .select({ agent_id: 1, account: 1, client_run_id: 1, session: 1, replaces: 1 })
      .limit(atOnce)
      .lean<Begun[]>()
    for (const run of found)
      if (!told.has(run._id)) node.live.send(runBegun, audiences.account(run.account), noticeOf(run))
    told = new Set(found.map(({ _id }) => _id))
  }
  const timer = node.alone ? undefined : setInterval(() => void look().catch(() => undefined), lookMilliseconds).unref()
  return () => {
    silence()
    clearInterval(timer)
  }
}

const forgetAtOnce = 200

/** Deletes the text of questions and answers after stopping them. The runs stay, as answers are counted by them. */
async function forgetQuestions(node: Node, among: QueryFilter<StoredRun>, by: string): Promise<void> {
  for (;;) {
    const runs = await Runs.find(among).limit(forgetAtOnce).lean<StoredRun[]>()
    if (runs.length === 0) return
    await Promise.all(runs.map((run) => stopAndWait(node, run, by)))
    await forgetRuns(runs.map(({ _id }) => _id))
  }
}

/** Deletes what a question replaces: an earlier one of its conversation, and all between them. */
async function forgetReplaced(node: Node, run: StoredRun): Promise<void> {
  const { replaces, _id, account } = run
  if (replaces === undefined) return
  await forgetQuestions(node, { ...conversationOf(run), _id: { $gte: replaces, $lt: _id } }, account)
}

/** Forgets runs, also running ones, which store nothing at their end. */
export async function forgetRuns(ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await RunFrames.deleteMany({ run_id: { $in: ids } })
  const nothing = {
    place: forgottenPlace,
    message: '',
    content: '',
    citations: [],
    sources: [],
    tools: [],
    scheduling: null,
  }
  await Runs.updateMany({ _id: { $in: ids } }, { $set: nothing, $unset: { to_say: 1, rating: 1 } })
}

interface Asked {
  agent: string
  message: string
  client_run_id?: string | undefined
  sessionId?: string | undefined
  replaces?: string | undefined
}

async function ask(context: Context, { agent: id, message, client_run_id, sessionId, replaces }: Asked) {
  const { account } = signedIn(context)
  const session = sessionId === unnamedSession ? undefined : sessionId
  const agent = await visibleAgent(account, id)
  agentModel(context.node, agent)
  const question = { agent: id, account, place: ownChatPlace, message, clientRunId: client_run_id, session, replaces }
  await refuseUnknownReplaced(question)
  const run = await beginAnswer(context.node, agent, question)
  await noteConversation(run)
  await forgetReplaced(context.node, run)
  if (run.state === 'running') notifyBegun(context.node, run)
  return { agent, run }
}

/** A repeated question finds that what it replaces is gone. */
async function refuseUnknownReplaced(question: RunRequest): Promise<void> {
  const { agent: agent_id, account, place, session = unnamedSession, replaces } = question
  if (replaces === undefined) return
  const isThere = await Runs.exists({ ...questionsOf({ agent_id, account, place }, session), _id: replaces })
  if (!isThere && !(await knownRun(question))) throw new AppError('RUN_NOT_FOUND')
}

/** Loads a run of the caller, but not one in a room, whose rules decide what is shown. */
async function ownRun(account: string, id: string): Promise<StoredRun> {
  const run = await Runs.findOne({ _id: id, account }).lean<StoredRun>()
  if (!run || isRoomPlace(run.place)) throw new AppError('RUN_NOT_FOUND')
  return run
}

/** The first frame of a run, which may still be on its way. */
const firstIdx = 0

export const run: Action<typeof contract.run> = async ({ agent_id: agent, ...question }, context) => {
  const { run: begun } = await ask(context, { agent, ...question })
  const { node, connection } = context
  // A repeat on one connection gets no frame twice.
  if (connection && !hasFrames(connection, begun)) sendFrames(node, connection, begun, -1)
  return { run_id: begun._id, user_message_id: begun.user_message_id, head_idx: firstIdx }
}

export const chat: Action<typeof contract.chat> = async ({ id, stream: _, ...asked }, context) => {
  const { agent, run } = await ask(context, { ...asked, agent: id })
  const last = await answerOf(context.node, framesAfter(context.node, run, -1, context.signal))
  return {
    ...done,
    sessionId: sessionOfRun(run),
    message: last.message,
    agentName: agent.name,
    agentEmoji: agent.avatar_emoji,
    scheduling: last.scheduling,
    run_id: run._id,
    message_id: run.message_id,
    ...extrasOfAnswer(last),
  }
}

export const chatStream: Action<typeof contract.chatStream> = async ({ id, stream: _, ...asked }, context) => {
  const { run } = await ask(context, { ...asked, agent: id })
  return inSession(sessionOfRun(run), answerLines(framesAfter(context.node, run, -1, context.signal)))
}

async function* inSession(sessionId: string, lines: AsyncIterable<ChatLine>) {
  for await (const line of lines) yield line.type === 'done' ? { ...line, sessionId } : line
}

/** Frames of an ended answer expire, or go with their conversation. */
async function refuseWithoutFrames(run: StoredRun): Promise<void> {
  if (run.state !== 'running' && !(await RunFrames.exists({ run_id: run._id }))) throw new AppError('RUN_NOT_FOUND')
}

export const frames: Action<typeof contract.frames> = async ({ id, after_idx }, context) => {
  const run = await ownRun(signedIn(context).account, id)
  await refuseWithoutFrames(run)
  return framesAfter(context.node, run, after_idx, context.signal)
}

const framesAtOnce = 500

export const resume: Action<typeof contract.resume> = async ({ run_id, after_idx }, context) => {
  const { node, connection } = context
  const run = await ownRun(signedIn(context).account, run_id)
  await refuseWithoutFrames(run)
  const { log, release } = await openFrameLog(node, run)
  const known = log.framesFrom(after_idx + 1, framesAtOnce)
  const upTo = after_idx + known.length
  const head = Math.max(log.frames.length - 1, known.at(-1)?.idx ?? -1)
  const complete = upTo >= head && log.isOver
  if (connection && !complete) sendFrames(node, connection, run, upTo)
  release()
  const now = complete ? await endedRun(node, run) : run
  if (!now) throw new AppError('RUN_NOT_FOUND')
  const { state } = now
  return { state, frames: known, head_idx: head, complete: upTo >= head }
}

export const cancel: Action<typeof contract.cancel> = async ({ run_id }, context) => {
  const { account } = signedIn(context)
  return { state: await stopAndWait(context.node, await ownRun(account, run_id), account) }
}

export const rate: Action<typeof contract.rate> = async ({ run_id, rating }, context) => {
  const { account } = signedIn(context)
  const { _id } = await ownRun(account, run_id)
  await Runs.updateOne({ _id }, rating === null ? { $unset: { rating: 1 } } : { $set: { rating } })
  return { rating }
}

const activeAtMost = 50

export const active: Action<typeof contract.active> = async ({ agent_id }, context) => {
  const { account } = signedIn(context)
  const asked = {
    account,
    state: 'running',
    place: ownChatPlace,
    ...(agent_id === undefined ? {} : { agent_id }),
  } as const
  const found = await Runs.find(asked)
    .sort({ _id: 1 })
    .limit(activeAtMost + 1)
    .lean<StoredRun[]>()
  const now = await Promise.all(found.slice(0, activeAtMost).map((run) => endedRun(context.node, run)))
  const running = now.filter((run) => run?.state === 'running') as StoredRun[]
  const heads = await Promise.all(running.map((run) => headOf(context.node, run)))
  return {
    has_more: found.length > activeAtMost,
    runs: running.map((one, at) => ({
      run_id: one._id,
      agent_id: one.agent_id,
      client_run_id: one.client_run_id,
      sessionId: one.session ?? unnamedSession,
      ...(one.replaces !== undefined && { replaces: one.replaces }),
      message: one.message,
      user_message_id: one.user_message_id,
      message_id: one.message_id,
      head_idx: heads[at] ?? firstIdx,
      created_at: one.created_at.toISOString(),
    })),
  }
}

async function headOf(node: Node, run: StoredRun): Promise<number> {
  const { log, release } = await openFrameLog(node, run)
  release()
  return Math.max(firstIdx, log.frames.length - 1)
}

export const history: Action<typeof contract.history> = async ({ id, sessionId: session, limit, before }, context) => {
  const { account } = signedIn(context)
  const conversation = { agent_id: id, account, place: ownChatPlace }
  // Answers stay their asker's, even if the agent is closed to them now.
  const refusal = await agentRefusalOf(account, await agentOf(id))
  if (refusal && !(await Runs.exists(conversation))) throw refusal
  return { chats: await messagesOf(context.node, conversation, { limit, before, session }) }
}

export const forget: Action<typeof contract.forget> = async ({ id, sessionId: session }, context) => {
  const { account } = signedIn(context)
  const conversation = { agent_id: id, account, place: ownChatPlace }
  // Askers may delete their questions, even if the agent is closed to them now.
  const refusal = await agentRefusalOf(account, await agentOf(id))
  if (refusal?.code === 'AGENT_NOT_FOUND' && !(await Runs.exists(conversation))) throw refusal
  await forgetQuestions(context.node, questionsOf(conversation, session), account)
  await removeConversations(account, id, session)
  return done
}
