import { agentOf, agentRefusalOf } from '#server/domains/agents/agent-state/access'
import { type Action, signedIn } from '#server/kernel/context'
import { orderedPages } from '#server/kernel/store/pages'
import { upsert } from '#server/ports/database/port'
import type { agentConversations as contract } from '#shared/api/agents/agent-runs'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { ownChatPlace, unnamedSession } from './history.ts'
import { Conversations, Runs, type StoredConversation, type StoredRun } from './model.ts'

const longestTitle = 80
/** So many conversations are searched. */
const mostSearched = 1_000

const pages = orderedPages({ asked_at: ['time', -1], _id: ['text', -1] })
const idOf = (account: string, agent: string, session: string) => `${account} ${agent} ${session}`

/** Lists the conversation of a question first. A new one has the question as its title. */
export async function noteConversation(run: StoredRun): Promise<void> {
  const { account, agent_id, session = unnamedSession, created_at: asked_at } = run
  const _id = idOf(account, agent_id, session)
  const first = { account, agent_id, session, title: titleOf(run.message), created_at: asked_at }
  await upsert(() => Conversations.updateOne({ _id }, { $setOnInsert: first, $max: { asked_at } }, { upsert: true }))
}

const titleOf = (question: string) => cut(question.toWellFormed().replace(/\s+/g, ' ').trim(), longestTitle)

/** Deletes one conversation from the list, or all with an agent. */
export async function removeConversations(account: string, agent_id: string, session?: string): Promise<void> {
  if (session === undefined) await Conversations.deleteMany({ account, agent_id })
  else await Conversations.deleteOne({ _id: idOf(account, agent_id, session) })
}

export const conversations: Action<typeof contract.conversations> = async ({ id, search, limit, cursor }, context) => {
  const { account } = signedIn(context)
  const own = { account, agent_id: id }
  const unnamed = await unnamedOf(own)
  // Conversations stay their asker's, even if the agent is closed to them now.
  const refusal = await agentRefusalOf(account, await agentOf(id))
  if (refusal && !unnamed && !(await Conversations.exists(own))) throw refusal
  const list = `conversations ${account}:${id}` as const
  const most = search === undefined ? limit + 1 : mostSearched
  const found = await Conversations.find({ ...own, ...pages.after(list, cursor) })
    .sort(pages.sort)
    .limit(most)
    .lean<StoredConversation[]>()
  const isLast = found.length < most
  if (unnamed && isLast) found.push(unnamed)
  const page = pages.cut(list, found.filter(isNamed(search)), limit)
  return { conversations: page.rows.map(renderConversation), next_cursor: page.next_cursor }
}

/** The questions of older versions, which made no entry; null if there is one. */
async function unnamedOf(own: { account: string; agent_id: string }): Promise<StoredConversation | null> {
  const first = await Runs.findOne({ ...own, place: ownChatPlace })
    .sort({ _id: 1 })
    .lean<StoredRun>()
  if (!first || first.session !== undefined) return null
  const _id = idOf(own.account, own.agent_id, unnamedSession)
  if (await Conversations.exists({ _id })) return null
  const { message, created_at } = first
  return { _id, ...own, session: unnamedSession, title: titleOf(message), created_at, asked_at: created_at }
}

const isNamed = (search: string | undefined) => {
  const words = folded(search ?? '').split(/\s+/)
  return ({ title }: StoredConversation) => words.every((word) => folded(title).includes(word))
}

const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

export const renameConversation: Action<typeof contract.renameConversation> = async (input, context) => {
  const { account } = signedIn(context)
  const { id, sessionId, title } = input
  const own = { account, agent_id: id }
  const unnamed = sessionId === unnamedSession ? await unnamedOf(own) : null
  if (unnamed) {
    const { _id, ...first } = unnamed
    await upsert(() => Conversations.updateOne({ _id }, { $setOnInsert: first }, { upsert: true }))
  }
  const renamed = await Conversations.findOneAndUpdate(
    { _id: idOf(account, id, sessionId) },
    { $set: { title } },
    { returnDocument: 'after' },
  ).lean<StoredConversation>()
  if (!renamed) throw new AppError('NOT_FOUND')
  return { conversation: renderConversation(renamed) }
}

const renderConversation = ({ session, title, created_at, asked_at }: StoredConversation) => ({
  id: session,
  title,
  created_at: created_at.toISOString(),
  asked_at: asked_at.toISOString(),
})
