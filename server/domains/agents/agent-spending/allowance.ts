import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { spending } from '#server/domains/agents/library/spent'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { type StoredDay, TokenDays } from './model.ts'
import { spendingSettings } from './settings.ts'

export { spendingSettings } from './settings.ts'

const dayMilliseconds = 86_400_000
/** One asker takes at most this part of the day of an owner who is somebody else. */
const sharesOfDay = 10
/** For an answer of which it is not known yet what it takes; it stays where a node dies meanwhile. */
const setAside = 2_048

/** What one answer may take of its owner's day. */
export interface Allowance {
  /** What is left of it, without what was counted. */
  left(): number
  count(tokens: number): void
  /** Takes what was counted for what was set aside. */
  close(): Promise<void>
}

const dayOf = (now: number) => Math.floor(now / dayMilliseconds)
const dateOf = (now: number) => new Date(now).toISOString().slice(0, 10)
const idOf = (owner: string, now: number) => `${owner} ${dateOf(now)}`
const shareIdOf = (asker: string, owner: string, now: number) => `by ${asker} ${idOf(owner, now)}`

/** What an answer takes of: the owner's day, and the share of it of who asks, where that is somebody else. */
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

/**
 * Throws DAILY_TOKENS_REACHED where no answer of this owner's agents may begin today, or none to this asker; null is nobody with a share. Takes
 * nothing.
 */
export async function refuseSpent(node: Node, owner: string, asker: string | null): Promise<void> {
  const now = node.now()
  const budgets = budgetsOf(node, owner, asker, now)
  const days = await TokenDays.find({ _id: { $in: budgets.map(({ _id }) => _id) } }).lean<StoredDay[]>()
  if (budgets.some(({ _id, most }) => days.some((day) => day._id === _id && day.tokens >= most))) throw spent(now)
}

/** Until the day ends on which nothing is left. */
export const secondsLeft = (now: number): number => Math.ceil(((dayOf(now) + 1) * dayMilliseconds - now) / 1_000)

const spent = (now: number) => new AppError('DAILY_TOKENS_REACHED', { retryAfter: secondsLeft(now) })

/** Sets tokens aside for one answer, which no race makes more than there are. Throws DAILY_TOKENS_REACHED where none are left. */
export async function allow(node: Node, owner: string, asker: string | null): Promise<Allowance> {
  const now = node.now()
  const taken: string[] = []
  const left: number[] = []
  for (const { _id, most } of budgetsOf(node, owner, asker, now)) {
    const tokens = await take(node, _id, now, { tokens: { $lt: most } })
    if (tokens === null) {
      await give(taken, -setAside)
      throw spent(now)
    }
    taken.push(_id)
    left.push(most - tokens + setAside)
  }
  return allowance(node, taken, Math.min(...left))
}

/** The same for an answer that is owed: it is given in any case, and counted. */
export async function allowOwed(node: Node, owner: string): Promise<Allowance> {
  const now = node.now()
  const _id = idOf(owner, now)
  await take(node, _id, now, {})
  return allowance(node, [_id], Number.POSITIVE_INFINITY)
}

const expiryOf = ({ settings }: Node, now: number) =>
  new Date((dayOf(now) + settings.retention.analyticsDays) * dayMilliseconds)

/** Counts what was taken outside of answers; nothing is refused by it but the answers after it. */
export async function spend(node: Node, owner: string, tokens: number): Promise<void> {
  const now = node.now()
  const _id = idOf(owner, now)
  const add = (upsert: boolean) =>
    TokenDays.updateOne({ _id }, { $inc: { tokens }, $setOnInsert: { expires_at: expiryOf(node, now) } }, { upsert })
  await add(true).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return add(false)
  })
}

/** The tokens of the day with those that are set aside now; null where the condition does not hold. */
async function take(node: Node, _id: string, now: number, condition: object): Promise<number | null> {
  const add = () =>
    TokenDays.findOneAndUpdate(
      { _id, ...condition },
      { $inc: { tokens: setAside } },
      { returnDocument: 'after' },
    ).lean<StoredDay>()
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

/** Counts the vectors of what an agent knows among the tokens of its owner. */
export function countKnowledge(node: Node): () => void {
  const count = async (agent: string, tokens: number) => {
    const found = await Agents.findOne({ _id: agent }).select({ owner_address: 1 }).lean<StoredAgent>()
    if (found) await spend(node, found.owner_address, tokens)
  }
  spending(node).count = (agent, tokens) =>
    void count(agent, tokens).catch((error: unknown) =>
      node.logger.warn({ error }, 'the tokens of what an agent knows were not counted'),
    )
  return () => {
    spending(node).count = () => undefined
  }
}
