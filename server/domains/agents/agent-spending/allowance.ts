import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { tokenCounter } from '#server/domains/agents/library/indexing'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { type StoredTokenDay, TokenDays } from './model.ts'
import { spendingSettings } from './settings.ts'

export { spendingSettings } from './settings.ts'

const dayMilliseconds = 86_400_000
/** Another account may use at most this part of an owner's day. */
const sharesOfDay = 10
/** Reserved for an answer of unknown length; it stays counted if the node dies. */
const setAside = 2_048

/** The tokens that one answer may use of its owner's day. */
export interface Allowance {
  /** The remaining tokens. */
  left(): number
  count(tokens: number): void
  /** Replaces the reserved tokens by the counted ones. */
  close(): Promise<void>
}

const dayOf = (now: number) => Math.floor(now / dayMilliseconds)
const dateOf = (now: number) => new Date(now).toISOString().slice(0, 10)
const idOf = (owner: string, now: number) => `${owner} ${dateOf(now)}`
const shareIdOf = (asker: string, owner: string, now: number) => `by ${asker} ${idOf(owner, now)}`

/** A budget of an answer: the owner's day, or another asker's share of it. */
interface Budget {
  _id: string
  most: number
}

function budgetsOf(node: Node, owner: string, asker: string | null, now: number): Budget[] {
  const most = spendingSettings.of(node).dailyTokens
  const own = { _id: idOf(owner, now), most }
  if (asker === null || asker === owner) return [own]
  return [{ _id: shareIdOf(asker, owner, now), most: Math.ceil(most / sharesOfDay) }, own]
}

/** Throws DAILY_TOKENS_REACHED if the owner's day or the asker's share is used up. Reserves nothing. */
export async function refuseSpentDay(node: Node, owner: string, asker: string | null): Promise<void> {
  const now = node.now()
  const budgets = budgetsOf(node, owner, asker, now)
  const days = await TokenDays.find({ _id: { $in: budgets.map(({ _id }) => _id) } }).lean<StoredTokenDay[]>()
  if (budgets.some(({ _id, most }) => days.some((day) => day._id === _id && day.tokens >= most))) throw spentError(now)
}

/** Seconds to the end of the day. */
export const secondsLeftToday = (now: number): number => Math.ceil(((dayOf(now) + 1) * dayMilliseconds - now) / 1_000)

const spentError = (now: number) => new AppError('DAILY_TOKENS_REACHED', { retryAfter: secondsLeftToday(now) })

/** Reserves tokens for an answer; races cannot exceed the budget. Throws DAILY_TOKENS_REACHED. */
export async function openAllowance(node: Node, owner: string, asker: string | null): Promise<Allowance> {
  const now = node.now()
  const taken: string[] = []
  const left: number[] = []
  for (const { _id, most } of budgetsOf(node, owner, asker, now)) {
    const tokens = await take(node, _id, now, { tokens: { $lt: most } })
    if (tokens === null) {
      await give(taken, -setAside)
      throw spentError(now)
    }
    taken.push(_id)
    left.push(most - tokens + setAside)
  }
  return allowance(node, taken, Math.min(...left))
}

/** The same for an owed answer, which is never refused, but counted. */
export async function openOwedAllowance(node: Node, owner: string): Promise<Allowance> {
  const now = node.now()
  const _id = idOf(owner, now)
  await take(node, _id, now, {})
  return allowance(node, [_id], Number.POSITIVE_INFINITY)
}

const expiryOf = ({ settings }: Node, now: number) =>
  new Date((dayOf(now) + settings.retention.analyticsDays) * dayMilliseconds)

/** Counts tokens outside of answers, which only later answers feel. */
async function spendTokens(node: Node, owner: string, tokens: number): Promise<void> {
  const now = node.now()
  const _id = idOf(owner, now)
  const add = (upsert: boolean) =>
    TokenDays.updateOne({ _id }, { $inc: { tokens }, $setOnInsert: { expires_at: expiryOf(node, now) } }, { upsert })
  await add(true).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return add(false)
  })
}

/** The tokens of the day after the reservation; null if the condition fails. */
async function take(node: Node, _id: string, now: number, condition: object): Promise<number | null> {
  const add = () =>
    TokenDays.findOneAndUpdate(
      { _id, ...condition },
      { $inc: { tokens: setAside } },
      { returnDocument: 'after' },
    ).lean<StoredTokenDay>()
  const known = await add()
  if (known) return known.tokens
  try {
    await TokenDays.create({ _id, tokens: setAside, expires_at: expiryOf(node, now) })
    return setAside
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return (await add())?.tokens ?? null
  }
}

const give = (ids: readonly string[], tokens: number) =>
  TokenDays.updateMany({ _id: { $in: ids } }, { $inc: { tokens } })

function allowance(node: Node, ids: readonly string[], most: number): Allowance {
  let used = 0
  return {
    left: () => most - used,
    count(tokens) {
      used += tokens
    },
    async close() {
      await give(ids, used - setAside).catch((error: unknown) =>
        node.logger.warn({ error }, 'the tokens of an answer were not counted'),
      )
    },
  }
}

/** Counts the embedding of an agent's knowledge among its owner's tokens. */
export function countKnowledge(node: Node): () => void {
  const count = async (agent: string, tokens: number) => {
    const found = await Agents.findOne({ _id: agent }).select({ owner_address: 1 }).lean<StoredAgent>()
    if (found) await spendTokens(node, found.owner_address, tokens)
  }
  tokenCounter(node).count = (agent, tokens) =>
    void count(agent, tokens).catch((error: unknown) =>
      node.logger.warn({ error }, 'the tokens of what an agent knows were not counted'),
    )
  return () => {
    tokenCounter(node).count = () => undefined
  }
}
