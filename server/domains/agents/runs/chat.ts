import { agentModel } from '#server/domains/agents/agent-spending/counted-answer'
import { agentOf, agentRefusalOf, visibleAgent } from '#server/domains/agents/agent-state/access'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import type { agentRuns as contract } from '#shared/api/agents/agent-runs'
import type { ChatLine } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { beginAnswer } from './answer.ts'
import { answerLines, answerOf, extrasOfAnswer } from './answer-lines.ts'
import { knownRun, type RunRequest } from './begin.ts'
import { notifyBegun } from './begun-notices.ts'
import { noteConversation, removeConversations } from './conversations.ts'
import { framesAfter, hasFrames, openFrameLog, sendFrames } from './follow.ts'
import { forgetQuestions, forgetReplaced } from './forget.ts'
import { isRoomPlace, messagesOf, ownChatPlace, questionsOf, sessionOfRun, unnamedSession } from './history.ts'
import { RunFrames, Runs, type StoredRun } from './model.ts'
import { endedRun } from './settle.ts'
import { stopAndWait } from './stop.ts'

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
