import { modelsOf } from '#server/domains/agents/agent-spending/counted-answer'
import { isAdmin, ownAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { storedTools } from '#server/domains/agents/agent-tools/stored'
import { refuseOthersFile } from '#server/domains/media/files/copies'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { deceptionByAgent, deceptionByLabel, looksIn } from '#server/domains/people/accounts/names'
import { wordsAskedFor, wordsToFind } from '#server/domains/rooms/text/skeleton'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { isDuplicate } from '#server/ports/database/port'
import { agentFields } from '#shared/api/agents/agent-records'
import { toolFields } from '#shared/api/agents/agent-tools'
import { betaAccess as contract } from '#shared/api/agents/beta-access'
import { AppError } from '#shared/errors'
import { inCamelCase, inSnakeCase } from '#shared/kit/either-case'
import { skeletonVersion } from '#shared/kit/looks'
import { done } from '#shared/kit/primitives'
import { betaSettings } from './settings.ts'

export const betaAccess = defineDomain(
  contract,
  {
    async get(_input, context) {
      const { account } = signedIn(context)
      const appliedAt = (await accountOf(account))?.beta_access_applied_at ?? null
      return {
        hasBetaAccess: await hasBetaAccess(context.node, account),
        hasApplied: appliedAt !== null,
        appliedAt: appliedAt?.toISOString() ?? null,
      }
    },

    async apply(_input, context) {
      const { account } = signedIn(context)
      if (await hasBetaAccess(context.node, account))
        return { ...done, message: 'You can make agents already', hasBetaAccess: true as const }
      const { modifiedCount } = await Accounts.updateOne(
        { _id: account, beta_access_applied_at: { $exists: false } },
        { $set: { beta_access_applied_at: new Date(context.node.now()) } },
      )
      if (modifiedCount === 0) return { ...done, message: 'You have asked already', alreadyApplied: true as const }
      return { ...done, message: 'Thank you. An admin will look at it.', applied: true as const }
    },
  },
  { settings: betaSettings },
)

/** Whether the account may create agents. A single-process server is open by default. */
async function hasBetaAccess(node: Node, account: string): Promise<boolean> {
  const { beta = node.alone ? 'open' : 'granted' } = betaSettings.of(node)
  if (beta === 'open' || (await isAdmin(node, account))) return true
  return (await Accounts.exists({ _id: account, beta_access: true })) !== null
}

/** Refuses accounts without beta access. */
export async function refuseWithoutBeta(node: Node, account: string, message?: string): Promise<void> {
  if (!(await hasBetaAccess(node, account)))
    throw new AppError('BETA_ACCESS_REQUIRED', message === undefined ? {} : { message })
}

const wordsAtMost = 300
const longestWord = 40
const afterAll = '\uffff'

const short = (word: string): string => word.slice(0, longestWord)

/** The distinct search words of an agent. */
const searchableWords = ({ name, tags, personality }: Pick<StoredAgent, 'name' | 'tags' | 'personality'>) =>
  [...new Set(wordsToFind([name, ...tags, personality].join(' ')).map(short))].slice(0, wordsAtMost)

/** The filter for agents with words that begin so; null without words. */
export function searchFilter(search: string) {
  const asked = [...new Set(wordsAskedFor(search).map(short))]
  if (asked.length === 0) return null
  return asked.map((word) => ({ words: { $elemMatch: { $gte: word, $lt: word + afterAll } } }))
}

/** Updates the search words of agents of older versions, a few at a time. */
export async function updateSearchWords(): Promise<void> {
  const older = { words_version: { $ne: skeletonVersion } }
  for (;;) {
    const agents = await Agents.find(older, { name: 1, tags: 1, personality: 1 }).limit(100).lean<StoredAgent[]>()
    if (agents.length === 0) return
    for (const { _id, ...agent } of agents) {
      const $set = { words: searchableWords(agent), words_version: skeletonVersion }
      await Agents.updateOne({ _id, ...older }, { $set })
    }
  }
}

const agentsAtMost = 5
const defaultEmoji = '🤖'
const defaultNetwork = 'base'

type Given = ReturnType<typeof agentFieldsOf>
/** The given fields of an agent, in camel case. */
export const agentFieldsOf = (input: object) => inCamelCase(agentFields, input as Readonly<Record<string, unknown>>)

/** The stored fields of the given ones; `storedTools` makes those of tools, which have keys. */
function changesOf(given: Given): Partial<StoredAgent> {
  const { systemInstructions, suggestedQuestions, ...rest } = given
  const same = Object.fromEntries(Object.entries(rest).filter(([name]) => !Object.hasOwn(toolFields, name)))
  return {
    ...(inSnakeCase(same) as Partial<StoredAgent>),
    ...(systemInstructions?.trim() && { system_instructions: systemInstructions }),
    ...(suggestedQuestions !== undefined && {
      suggested_questions: suggestedQuestions?.length ? suggestedQuestions : null,
    }),
  }
}

export async function createAgent(node: Node, account: string, input: object, id: string): Promise<StoredAgent> {
  const given = agentFieldsOf(input)
  await refuse(node, account, given, null)
  await refuseWithoutBeta(node, account)
  const agent = newAgent(node, account, given, id)
  const inserted = await insertWithinLimit(Agents, agent, {
    others: { owner_address: account },
    most: (await isAdmin(node, account)) ? null : agentsAtMost,
    refuseDuplicate: async () => {
      if (await isNameTaken(agent)) throw new AppError('AGENT_EXISTS')
    },
  })
  if (!inserted) throw new AppError('AGENT_LIMIT_REACHED')
  return inserted
}

/** Creates an official agent. An existing one stays unchanged. */
export async function ensureOfficialAgent(
  node: Node,
  account: string,
  input: object,
  id: string,
): Promise<StoredAgent> {
  const agent = newAgent(node, account, agentFieldsOf({ ...input, visibility: 'official' }), id)
  return (await insertWithinLimit(Agents, agent, { others: {}, most: null })) ?? agent
}

function newAgent(node: Node, account: string, given: Given, id: string): StoredAgent {
  const { name = '', personality = '' } = given
  const now = new Date(node.now())
  return settled({
    _id: id,
    owner_address: account,
    name,
    personality,
    system_instructions: instructionsOf(name, personality),
    avatar_emoji: defaultEmoji,
    avatar_url: null,
    visibility: 'private',
    web_search_enabled: false,
    use_knowledge_base: false,
    mcp_enabled: true,
    api_enabled: true,
    scheduling_enabled: false,
    events_access: false,
    public_access_enabled: true,
    message_count: 0,
    tags: [],
    suggested_questions: null,
    x402_enabled: false,
    x402_price_cents: null,
    x402_network: null,
    x402_wallet_address: null,
    x402_pricing_mode: 'global',
    ...changesOf(given),
    ...storedTools(node.settings.sessionKeys, id, given, {}),
    created_at: now,
    updated_at: now,
  })
}

const isNameTaken = async ({ owner_address, name, _id }: Pick<StoredAgent, 'owner_address' | 'name' | '_id'>) =>
  (await Agents.exists({ owner_address, name, _id: { $ne: _id } })) !== null

const attempts = 5

/** Changes an agent and returns it. Simultaneous changes are merged and validated together. */
export async function updateAgent(node: Node, account: string, id: string, input: object): Promise<StoredAgent> {
  const given = agentFieldsOf(input)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const agent = await ownAgent(node, account, id)
    await refuse(node, account, given, agent)
    const stored = await change(node, agent, given)
    if (stored) return stored
  }
  throw new AppError('CONFLICT')
}

/** Null if the agent changed since it was read. */
async function change(node: Node, agent: StoredAgent, given: Given): Promise<StoredAgent | null> {
  const changed = settled({
    ...agent,
    ...changesOf(given),
    ...storedTools(node.settings.sessionKeys, agent._id, given, agent),
  })
  const isCleared = given.systemInstructions?.trim() === ''
  if (isCleared || (given.personality !== undefined && given.systemInstructions === undefined))
    changed.system_instructions = instructionsOf(changed.name, changed.personality)
  const { _id, owner_address: _, message_count: __, place: ___, created_at: ____, ...fields } = changed
  try {
    const updated_at = new Date(Math.max(node.now(), agent.updated_at.getTime() + 1))
    return await Agents.findOneAndUpdate(
      { _id, updated_at: agent.updated_at },
      { $set: { ...fields, updated_at } },
      { returnDocument: 'after' },
    ).lean<StoredAgent>()
  } catch (error) {
    if (isDuplicate(error)) throw new AppError('AGENT_EXISTS')
    throw error
  }
}

/** Refuses fields that the caller may not set, and contradictions. */
async function refuse(node: Node, account: string, given: Given, before: StoredAgent | null): Promise<void> {
  for (const { url } of [...(given.mcpServers ?? []), ...(given.apiTools ?? [])]) node.services.web.check(url)
  const { avatarUrl } = given
  if (avatarUrl !== before?.avatar_url) await refuseOthersFile(node, account, avatarUrl, 'avatarUrl')
  if (given.model !== undefined && !modelsOf(node).some(({ name }) => name === given.model))
    throw new AppError('INVALID_MODEL')
  const becomesOfficial = given.visibility === 'official' && before?.visibility !== 'official'
  if (becomesOfficial && !(await isAdmin(node, account)))
    throw new AppError('FORBIDDEN', { message: 'Only admins can make an agent official' })
  const { name = before?.name ?? '', visibility = before?.visibility ?? 'private' } = given
  const claim = given.tags?.map((tag) => (before?.tags.includes(tag) ? null : deceptionByLabel(tag))).find(Boolean)
  if (claim && visibility !== 'official')
    throw new AppError('VALIDATION_ERROR', { message: `This tag is not allowed. ${claim}`, details: { path: 'tags' } })
  const isJudged = name !== before?.name || before.visibility === 'official'
  if (isJudged && visibility !== 'official') await refuseDeceptiveName(before?._id ?? '', name)
  if (given.x402Network !== undefined && !(given.x402Enabled ?? before?.x402_enabled ?? false))
    throw new AppError('VALIDATION_ERROR', { message: 'x402Network: only where x402Enabled is on' })
  if (given.x402Enabled && (given.x402PriceCents ?? before?.x402_price_cents ?? null) === null)
    throw new AppError('VALIDATION_ERROR', { message: 'x402PriceCents: wanted where x402Enabled is on' })
}

/** Derives dependent fields. */
function settled(agent: Omit<StoredAgent, 'words'>): StoredAgent {
  return {
    ...agent,
    words: searchableWords(agent),
    words_version: skeletonVersion,
    ...(agent.x402_enabled && { x402_network: agent.x402_network ?? defaultNetwork }),
  }
}

const defaultInstructions = 'You are a helpful assistant. Answer clearly and briefly.'

/** The default instructions of a model. */
const instructionsOf = (name: string, personality: string): string =>
  personality.trim() === ''
    ? defaultInstructions
    : `You are ${name}. Your personality: ${personality.trim()}\nBe helpful and friendly, and stay in character as ${name}.`

/** Refuses a deceptive name, or one like that of another official agent. Throws AGENT_NAME_RESERVED. */
async function refuseDeceptiveName(id: string, name: string): Promise<void> {
  const deception =
    deceptionByAgent(name) ?? ((await looksOfficial(id, name)) ? 'It looks like that of an official agent' : null)
  if (deception !== null)
    throw new AppError('AGENT_NAME_RESERVED', { message: `This name is not allowed. ${deception}` })
}

async function looksOfficial(id: string, name: string): Promise<boolean> {
  const others = { visibility: 'official' as const, _id: { $ne: id } }
  const official = await Agents.find(others).select({ name: 1 }).lean<{ name: string }[]>()
  const looks = new Set(looksIn(name))
  return official.some((agent) => looksIn(agent.name).some((look) => looks.has(look)))
}
