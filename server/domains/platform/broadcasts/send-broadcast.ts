import { z } from 'zod'
import { ensurePlazaAccount } from '#server/domains/people/accounts/accounts'
import { subscribedAccounts } from '#server/domains/platform/push/browsers'
import { sendClearMessage } from '#server/domains/rooms/messages/clear-messages'
import { ignoreDuplicate } from '#server/domains/rooms/room-state/conversations'
import type { Job, Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { broadcastTargets } from '#shared/api/platform/broadcasts'
import { AppError } from '#shared/errors'
import { Broadcasts, type StoredBroadcast } from './model.ts'
import { recipientCount, recipientsAfter } from './recipients.ts'

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
export type BroadcastText = z.infer<typeof BroadcastText>

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
export async function sendFirstBatch(node: Node, broadcast: BroadcastText): Promise<StoredBroadcast> {
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
