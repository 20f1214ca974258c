import { z } from 'zod'
import { ensurePlazaAccount } from '#server/domains/people/accounts/accounts'
import { subscribedAmong } from '#server/domains/platform/push/browsers'
import { sendClearMessage } from '#server/domains/rooms/messages/clear-messages'
import { ignoreDuplicate } from '#server/domains/rooms/room-state/conversations'
import type { Job, Node } from '#server/kernel/context'
import { job } from '#server/kernel/jobs'
import { broadcastTargets } from '#shared/api/broadcasts'
import { AppError } from '#shared/errors'
import { Broadcasts, type StoredBroadcast } from './model.ts'
import { countOf, recipientsAfter } from './recipients.ts'

/** Told at a time, by the call itself and by each job. */
const toldAtOnce = 50

/** How often a turn is tried, for half a minute, before it goes on without those whom nothing can be told. */
const tries = 6

/** So often somebody is tried whose turn is done again, as a process has died of it; then they are passed over. */
const triesOfOne = 3

/** What is said, by whom and to whom. */
const Said = z.object({
  id: z.string(),
  message: z.string(),
  target: z.enum(broadcastTargets),
  created_by: z.string(),
  /** Milliseconds. */
  at: z.number(),
})
export type Said = z.infer<typeof Said>

/** Tells the next of those who are told, and leaves the others to a job like this one. */
export const telling: Job<typeof Said> = job({
  kind: 'broadcasts.tell',
  payload: Said,
  atOnce: 1,
  async run(said, { node, attempt }) {
    const { _id, cursor, finished_at } = await tellNext(node, said, attempt)
    if (finished_at === null) await node.jobs.add(telling, said, `${_id} ${cursor}`)
  },
})

/** Tells the first of those who are told; whom it cannot be told now, the job tells. */
export async function tellFirst(node: Node, said: Said): Promise<StoredBroadcast> {
  try {
    return await tellNext(node, said)
  } catch (error) {
    if (error instanceof AppError && error.status < 500) throw error
    node.logger.warn({ broadcast: said.id, error }, 'a broadcast is left to its job')
    return begun(said)
  }
}

/**
 * Tells as many as one turn takes, and notes how far that is. Whoever is told twice, as two work on it or one has died, has one message: its
 * key is the same. A turn is counted once. Where somebody cannot be told it throws, after all others were; the last attempts go on without
 * them, and count them as failed. So they do with whoever ended the process of those before.
 */
export async function tellNext(node: Node, said: Said, attempt = 1): Promise<StoredBroadcast> {
  const before = await begun(said)
  if (before.finished_at !== null) return before
  const { accounts, passedOver, cursor } = await recipientsAfter(before, before.cursor, toldAtOnce)
  const from = before.target === 'friends' ? before.created_by : await ensurePlazaAccount(node.now())
  const what = { type: 'system', text: before.message, cid: `broadcast:${before._id}` } as const
  const told: string[] = []
  const faults: unknown[] = []
  const isNew = attempt === 1
  for (const account of accounts)
    try {
      const telling = () => sendClearMessage(node, from, account, what)
      if (await (isNew ? telling() : onceMore(node, before, account, telling))) told.push(account)
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
    sent: told.length,
    failed: accounts.length - told.length,
    push_sent: (await subscribedAmong(told)).length,
    ...(!isLast && { total: -passedOver }),
  }
  const $set = {
    cursor: cursor ?? before.cursor,
    finished_at: isLast ? new Date(node.now()) : null,
    // Some have left since it began, or come.
    ...(isLast && { total: before.sent + before.failed + accounts.length }),
  }
  const counted = { $set, $inc, $unset: { tried: '' } }
  await Broadcasts.updateOne({ _id: before._id, cursor: before.cursor, finished_at: null }, counted)
  return begun(said)
}

/** The record of what is said, made by whoever comes first. */
async function begun({ id, at, ...said }: Said): Promise<StoredBroadcast> {
  const known = await Broadcasts.findOne({ _id: id }).lean<StoredBroadcast>()
  if (known) return known
  const asked = { ...said, created_at: new Date(at) }
  const fields = {
    ...asked,
    cursor: '',
    sent: 0,
    failed: 0,
    push_sent: 0,
    finished_at: null,
    total: await countOf(asked),
  }
  await Broadcasts.updateOne({ _id: id }, { $setOnInsert: fields }, { upsert: true }).catch(ignoreDuplicate)
  return { _id: id, ...fields }
}

/** A try in a turn that is done again: it is noted before it is made, and is not made with whom a process has died of too often. */
async function onceMore<Told>(
  node: Node,
  { _id, tried = [] }: StoredBroadcast,
  to: string,
  telling: () => Promise<Told>,
): Promise<Told | null> {
  if (tried.filter((one) => one === to).length >= triesOfOne) {
    node.logger.error({ broadcast: _id, account: to }, 'an account was not told, as a process died of each try')
    return null
  }
  await Broadcasts.updateOne({ _id }, { $push: { tried: to } })
  try {
    return await telling()
  } finally {
    await Broadcasts.updateOne({ _id }, { $pull: { tried: to } })
  }
}
