import { z } from 'zod'
import { ensurePlazaAccount, plazaAccount } from '#server/domains/people/accounts/accounts'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { ofFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Pair, Pairs } from '#server/domains/people/friends/model'
import { otherPersonOf } from '#server/domains/people/friends/pairs'
import { subscribedAccounts } from '#server/domains/platform/push/browsers'
import { sendClearMessage } from '#server/domains/rooms/messages/send'
import { refuseWords } from '#server/domains/rooms/room-state/judge-draft'
import { ignoreDuplicate } from '#server/domains/rooms/room-state/records'
import { type Job, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { job } from '#server/kernel/work/jobs'
import { GLOBAL } from '#server/log/types'
import { type BroadcastTarget, broadcastTargets, broadcasts as contract } from '#shared/api/platform/broadcasts'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { Broadcasts, type StoredBroadcast } from './model.ts'

interface BroadcastSource {
  target: BroadcastTarget
  /** The account whose friends are the recipients. */
  created_by: string
  created_at: Date
}

/** A page of recipients. */
interface RecipientPage {
  accounts: readonly string[]
  /** The number of suspended accounts that were left out. */
  passedOver: number
  /** The position of the next page; null after the last. */
  cursor: string | null
}

/** Accounts with a sign-in that existed at the time of the broadcast. */
const everybody = ({ created_at }: BroadcastSource) => ({
  wallet_type: { $ne: null },
  ...ofFound,
  created_at: { $lte: created_at },
})
/** Friends without the Plaza account. */
const friends = ({ created_by: by }: BroadcastSource) => ({
  state: 'friends' as const,
  $or: [
    { from_address: by, to_address: { $ne: plazaAccount } },
    { to_address: by, from_address: { $ne: plazaAccount } },
  ],
})

const recipientCount = (asked: BroadcastSource): Promise<number> =>
  asked.target === 'friends' ? Pairs.countDocuments(friends(asked)) : Accounts.countDocuments(everybody(asked))

/** The next page of recipients, in the order of their ids. */
async function recipientsAfter(asked: BroadcastSource, cursor: string, most: number): Promise<RecipientPage> {
  const rows = await (asked.target === 'friends' ? friendsAfter : accountsAfter)(asked, cursor, most)
  const all = rows.map(({ account }) => account)
  const suspended = await suspendedAccountsAmong(all)
  return {
    accounts: all.filter((account) => !suspended.has(account)),
    passedOver: suspended.size,
    cursor: rows.length < most ? null : (rows.at(-1)?.at ?? null),
  }
}

async function accountsAfter(asked: BroadcastSource, cursor: string, most: number) {
  const found = await Accounts.find({ ...everybody(asked), _id: { $gt: cursor } }, { _id: 1 })
    .sort({ _id: 1 })
    .limit(most)
    .lean()
  return found.map(({ _id }) => ({ at: _id, account: _id }))
}

async function friendsAfter(asked: BroadcastSource, cursor: string, most: number) {
  const found = await Pairs.find({ ...friends(asked), _id: { $gt: cursor } })
    .sort({ _id: 1 })
    .limit(most)
    .lean<Pair[]>()
  return found.map((pair) => ({ at: pair._id, account: otherPersonOf(pair, asked.created_by) }))
}

/** Recipients of one batch. */
const batchSize = 50

/** A batch is tried so often, for half a minute, before it skips failing recipients. */
const tries = 6

/** A recipient is tried so often in repeated batches, as a process may have died of them. */
const triesOfOne = 3

/** A broadcast: its text, sender and target. */
const BroadcastText = z.object({
  id: z.string(),
  message: z.string(),
  target: z.enum(broadcastTargets),
  created_by: z.string(),
  /** Milliseconds. */
  at: z.number(),
})
type BroadcastText = z.infer<typeof BroadcastText>

/** Sends the next batch, and leaves the rest to a job like this one. */
export const broadcastJob: Job<typeof BroadcastText> = job({
  kind: 'broadcasts.tell',
  payload: BroadcastText,
  atOnce: 1,
  async run(broadcast, { node, attempt }) {
    const { _id, cursor, finished_at } = await sendNextBatch(node, broadcast, attempt)
    if (finished_at === null) await node.jobs.add(broadcastJob, broadcast, `${_id} ${cursor}`)
  },
})

/** Sends the first batch; the job repeats what fails. */
async function sendFirstBatch(node: Node, broadcast: BroadcastText): Promise<StoredBroadcast> {
  try {
    return await sendNextBatch(node, broadcast)
  } catch (error) {
    if (error instanceof AppError && error.status < 500) throw error
    node.logger.warn({ broadcast: broadcast.id, error }, 'a broadcast is left to its job')
    return ensureRecord(broadcast)
  }
}

/** Sends a batch and counts it once. A repeat has the same key, so nobody gets two messages. Failures throw until the last attempts. */
export async function sendNextBatch(node: Node, broadcast: BroadcastText, attempt = 1): Promise<StoredBroadcast> {
  const before = await ensureRecord(broadcast)
  if (before.finished_at !== null) return before
  const { accounts, passedOver, cursor } = await recipientsAfter(before, before.cursor, batchSize)
  const from = before.target === 'friends' ? before.created_by : await ensurePlazaAccount(node.now())
  const what = { type: 'system', text: before.message, cid: `broadcast:${before._id}` } as const
  const reached: string[] = []
  const faults: unknown[] = []
  const isNew = attempt === 1
  for (const account of accounts)
    try {
      const sendOne = () => sendClearMessage(node, from, account, what)
      if (await (isNew ? sendOne() : retryRecipient(node, before, account, sendOne))) reached.push(account)
    } catch (error) {
      if (node.isStoreAway()) throw error
      faults.push(error)
    }
  if (faults.length > 0) {
    const [cause] = faults
    if (attempt < tries) throw new Error(`${faults.length} could not be told`, { cause })
    node.logger.error({ broadcast: before._id, accounts: faults.length, error: cause }, 'accounts were not told')
  }
  const isLast = cursor === null
  const $inc = {
    sent: reached.length,
    failed: accounts.length - reached.length,
    push_sent: (await subscribedAccounts(reached)).length,
    ...(!isLast && { total: -passedOver }),
  }
  const $set = {
    cursor: cursor ?? before.cursor,
    finished_at: isLast ? new Date(node.now()) : null,
    // Recipients may have come or left since the start.
    ...(isLast && { total: before.sent + before.failed + accounts.length }),
  }
  const counted = { $set, $inc, $unset: { tried: '' } }
  await Broadcasts.updateOne({ _id: before._id, cursor: before.cursor, finished_at: null }, counted)
  return ensureRecord(broadcast)
}

/** The record of a broadcast, created by the first caller. */
async function ensureRecord({ id, at, ...text }: BroadcastText): Promise<StoredBroadcast> {
  const known = await Broadcasts.findOne({ _id: id }).lean<StoredBroadcast>()
  if (known) return known
  const asked = { ...text, created_at: new Date(at) }
  const fields = {
    ...asked,
    cursor: '',
    sent: 0,
    failed: 0,
    push_sent: 0,
    finished_at: null,
    total: await recipientCount(asked),
  }
  await Broadcasts.updateOne({ _id: id }, { $setOnInsert: fields }, { upsert: true }).catch(ignoreDuplicate)
  return { _id: id, ...fields }
}

/** Retries a recipient of a repeated batch, noted before, so that a deadly one is skipped. */
async function retryRecipient<Sent>(
  node: Node,
  { _id, tried = [] }: StoredBroadcast,
  to: string,
  sendOne: () => Promise<Sent>,
): Promise<Sent | null> {
  if (tried.filter((one) => one === to).length >= triesOfOne) {
    node.logger.error({ broadcast: _id, account: to }, 'an account was not told, as a process died of each try')
    return null
  }
  await Broadcasts.updateOne({ _id }, { $push: { tried: to } })
  try {
    return await sendOne()
  } finally {
    await Broadcasts.updateOne({ _id }, { $pull: { tried: to } })
  }
}

const anHour = 5
const hourSeconds = 3_600
const listedAtMost = 10

export const broadcasts = defineDomain(
  contract,
  {
    async send({ message, target }, context) {
      const { account } = signedIn(context)
      const { node, creationId: id } = context
      await node.log.ask(GLOBAL, (view) => refuseWords(node, view, account, [message]))
      if (!(await node.limits.guard('broadcasts', account, anHour, hourSeconds)))
        throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
      const broadcast = { id, message, target, created_by: account, at: node.now() }
      // Stored before the first message: another node finishes what this one does not.
      await node.jobs.add(broadcastJob, broadcast, id)
      return { ...done, id, ...countsIn(await sendFirstBatch(node, broadcast)) }
    },

    async read({ target }, context) {
      const { account } = signedIn(context)
      const source = { target, created_by: account, created_at: new Date(context.node.now()) }
      const [total, found] = await Promise.all([
        recipientCount(source),
        Broadcasts.find().sort({ created_at: -1 }).limit(listedAtMost).lean<StoredBroadcast[]>(),
      ])
      return { target, total, broadcasts: found.map(renderBroadcast) }
    },
  },
  { jobs: [broadcastJob] },
)

const countsIn = ({ sent, failed, push_sent: pushSent, total, target }: StoredBroadcast) => ({
  ...{ sent, failed, pushSent, total, target },
})

const renderBroadcast = (stored: StoredBroadcast) => ({
  id: stored._id,
  message: stored.message,
  ...countsIn(stored),
  created_by: stored.created_by,
  created_at: stored.created_at.toISOString(),
  finished_at: stored.finished_at?.toISOString() ?? null,
})
