import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { agentSettings } from '../settings.ts'
import { type StoredDay, TokenDays } from './model.ts'

const dayMilliseconds = 86_400_000
const keptDays = 2
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
const idOf = (owner: string, now: number) => `${owner} ${new Date(now).toISOString().slice(0, 10)}`

/** Throws DAILY_TOKENS_REACHED where no answer of this owner's agents may begin today. Takes nothing. */
export async function refuseSpent(node: Node, owner: string): Promise<void> {
  const now = node.now()
  const day = await TokenDays.findOne({ _id: idOf(owner, now) }).lean<StoredDay>()
  if (day && day.tokens >= agentSettings.of(node).dailyTokens) throw spent(now)
}

const spent = (now: number) =>
  new AppError('DAILY_TOKENS_REACHED', { retryAfter: Math.ceil(((dayOf(now) + 1) * dayMilliseconds - now) / 1_000) })

/** Sets tokens aside for one answer, which no race makes more than there are. Throws DAILY_TOKENS_REACHED where none are left. */
export async function allow(node: Node, owner: string): Promise<Allowance> {
  const now = node.now()
  const most = agentSettings.of(node).dailyTokens
  const _id = idOf(owner, now)
  const taken = await take(_id, now, { tokens: { $lt: most } })
  if (taken === null) throw spent(now)
  return allowance(node, _id, most - taken + setAside)
}

/** The same for an answer that is owed: it is given in any case, and counted. */
export async function allowOwed(node: Node, owner: string): Promise<Allowance> {
  const now = node.now()
  const _id = idOf(owner, now)
  await take(_id, now, {})
  return allowance(node, _id, Number.POSITIVE_INFINITY)
}

const expiryOf = (now: number) => new Date((dayOf(now) + keptDays) * dayMilliseconds)

/** Counts what was taken outside of answers; nothing is refused by it but the answers after it. */
export async function spend(node: Node, owner: string, tokens: number): Promise<void> {
  const now = node.now()
  const _id = idOf(owner, now)
  const add = (upsert: boolean) =>
    TokenDays.updateOne({ _id }, { $inc: { tokens }, $setOnInsert: { expires_at: expiryOf(now) } }, { upsert })
  await add(true).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return add(false)
  })
}

/** The tokens of the day with those that are set aside now; null where the condition does not hold. */
async function take(_id: string, now: number, condition: object): Promise<number | null> {
  const add = () =>
    TokenDays.findOneAndUpdate(
      { _id, ...condition },
      { $inc: { tokens: setAside } },
      { returnDocument: 'after' },
    ).lean<StoredDay>()
  const known = await add()
  if (known) return known.tokens
  try {
    await TokenDays.create({ _id, tokens: setAside, expires_at: expiryOf(now) })
    return setAside
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return (await add())?.tokens ?? null
  }
}

function allowance(node: Node, _id: string, most: number): Allowance {
  let used = 0
  return {
    left: () => most - used,
    count(tokens) {
      used += tokens
    },
    async close() {
      await TokenDays.updateOne({ _id }, { $inc: { tokens: used - setAside } }).catch((error: unknown) =>
        node.logger.warn({ error }, 'the tokens of an answer were not counted'),
      )
    },
  }
}
