import { z } from 'zod'
import { keepRestrictions } from '#server/domains/moderation/moderation/kept-restrictions'
import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { beginErasing, holdUsername, removeAccount } from '#server/domains/people/accounts/leaving'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { Nodes } from '#server/domains/platform/cluster/model'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import { forgetPreviews } from '#server/domains/rooms/inbox/previews'
import { forgetCards } from '#server/domains/rooms/room-state/rows'
import { recordReceipt } from '#server/kernel/audit'
import type { JobRun, Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { job } from '#server/kernel/jobs'
import { declaredModels } from '#server/kernel/model'
import { nodeState } from '#server/kernel/node-state'
import { seal, tryUnseal } from '#server/kernel/seal'
import { upsert } from '#server/ports/database/port'
import { MessagesOfErased } from '#shared/api/own-data'
import { isSameAccount } from '#shared/kit/accounts'
import { type ErasedAccount, inMemory } from './alias.ts'
import { endAll, purgeOwnMessages } from './endings.ts'
import { listErased } from './erased-list.ts'
import { type Counts, eraseRows, removeFiles } from './erased-rows.ts'
import { Erasures, type StoredErasure } from './model.ts'

const boundTo = 'own-data erasure'
const dayMilliseconds = 86_400_000
/** Until calls under way have ended. */
const settlingMilliseconds = 60_000
/** A node without a heartbeat for so long has ended. */
const silentMilliseconds = 30_000
const passesAtMost = 10
const lookMilliseconds = 5_000

const Erasing = z.object({
  id: z.string(),
  account: z.string(),
  alias: z.string(),
  messages: MessagesOfErased,
})
type Erasing = z.output<typeof Erasing>

/** Erases an account, once its time has come. A run that was ended begins anew. */
export const erasing = job({
  kind: 'own-data.erase',
  payload: Erasing,
  atOnce: 1,
  async run(work, { node, signal }) {
    const { id, account, messages } = work
    const stored = await claimErasure(node, work)
    if (!stored) return
    let { forgotten_at } = stored
    if (forgotten_at === null) {
      await endAll(node, account, signal)
      if (messages === 'erase') await purgeOwnMessages(node, account, signal)
      await removeFiles(node, work, signal)
      await keepRestrictions(node, account)
      await eraseUntilNothingIsLeft(work, signal)
      forgotten_at = new Date(node.now())
      await Erasures.updateOne({ _id: id }, { $set: { forgotten_at } })
    }
    await forgetErased(node)
    await node.jobs.add(settling, work, `erasure-settled ${id}`, forgotten_at.getTime() + settlingMilliseconds)
  },
})

/** Removes what was written meanwhile, by running calls or from the memory of a node, and ends the erasure. It waits for all nodes. */
export const settling = job({
  kind: 'own-data.settle-erasure',
  payload: Erasing,
  async run(work, { node, signal }) {
    const { id, account, alias } = work
    const stored = await Erasures.findOne({ _id: id }).lean<StoredErasure>()
    if (!stored || stored.finished_at) return
    await forgetErased(node)
    if (await isRemembered(node, id)) {
      await node.jobs.add(settling, work, undefined, node.now() + lookMilliseconds)
      return
    }
    const known = await accountOf(account)
    const now = node.now()
    // Otherwise an ended run has removed it, and a new account may have its address.
    if (known?.erasure_id === id) {
      await keepRestrictions(node, account)
      await eraseUntilNothingIsLeft(work, signal)
      for (const days of keptDays())
        await node.jobs.add(keeping, { alias, days }, `erasure-kept ${id} ${days}`, now + days * dayMilliseconds)
      if (known.username) await holdUsername(known.username, now)
      await listErased(node, work, now)
      await removeAccount(account, new Date(now))
      forgetProfile(node, account)
    }
    await recordReceipt(node, { id, alias, counts: stored.counts })
    const expires_at = new Date(now + dayMilliseconds)
    await Erasures.updateOne({ _id: id }, { $set: { finished_at: new Date(now), expires_at } })
  },
})

/** Removes what was kept of an erased account for its time. */
export const keeping = job({
  kind: 'own-data.end-keeping',
  payload: z.object({ alias: z.string(), days: z.number().int() }),
  async run({ alias, days }) {
    for (const { model, own } of declaredModels())
      for (const share of own && own !== "nobody's" ? own.shares : [])
        if (share.becomes === 'keep' && share.days === days && share.owner !== null && share.through === undefined)
          await model.deleteMany({ [share.owner]: alias })
  },
})

function keptDays(): number[] {
  const shares = declaredModels().flatMap(({ own }) => (own && own !== "nobody's" ? own.shares : []))
  return [
    ...new Set(
      shares.flatMap((share) => (share.becomes === 'keep' && typeof share.days === 'number' ? share.days : [])),
    ),
  ]
}

/** Reminds the owner of an account that it is to be erased. */
export const reminding = job({
  kind: 'own-data.remind-of-erasure',
  payload: z.object({ id: z.string(), account: z.string() }),
  async run({ id, account }, { node }) {
    const known = await accountOf(account)
    if (known?.erasure_id !== id || !known.erased_at) return
    await writeOfErasure(node, account, id, 'reminder')
  },
})

/** A letter about the erasure, where the account has an address. */
export async function writeOfErasure(
  node: Node,
  account: string,
  id: string,
  kind: 'notice' | 'reminder',
): Promise<void> {
  const known = await accountOf(account)
  if (!node.services.mail || !known?.email || !known.erased_at) return
  const when = known.erased_at.toUTCString()
  const subject = kind === 'notice' ? 'Your account will be deleted' : 'Your account will soon be deleted'
  const text = `Your account will be deleted on ${when}, as you asked. You are signed out on all devices.\n\nTo keep the account, sign in before that time:\n\n${node.settings.publicUrl}\n\nIf you did not ask for this, sign in now, and sign out your other devices in the settings.\n`
  await sendEmail(node, { to: known.email, subject, text }, `erasure-${kind}-${id}`)
}

/** The erasure as it is stored, from its beginning on; null where the account does not wait for it. */
async function claimErasure(node: Node, { id, ...erased }: Erasing): Promise<StoredErasure | null> {
  const stored = () => Erasures.findOne({ _id: id }).lean<StoredErasure>()
  const begun = await stored()
  if (begun || isSameAccount(erased.account, plazaAccount) || !(await beginErasing(erased.account, id))) return begun
  const sealed = seal(node.settings.sessionKeys, JSON.stringify(erased), boundTo)
  const beginning = { sealed, counts: {}, forgotten_at: null, forgotten_on: [], finished_at: null }
  await upsert(() => Erasures.updateOne({ _id: id }, { $setOnInsert: beginning }, { upsert: true }))
  return stored()
}

async function eraseUntilNothingIsLeft(work: Erasing, signal: JobRun['signal']): Promise<void> {
  let left: Counts = {}
  for (let pass = 0; pass < passesAtMost; pass++) {
    left = await eraseRows(work, signal)
    if (Object.keys(left).length === 0) return
    const counted = Object.fromEntries(Object.entries(left).map(([model, rows]) => [`counts.${model}`, rows]))
    await Erasures.updateOne({ _id: work.id }, { $inc: counted })
  }
  throw new Error(`Rows of ${Object.keys(left).join(', ')} come back`)
}

const forgottenOn = nodeState(() => new Set<string>())

/** Has this node forget those accounts that the store has forgotten. */
async function forgetErased(node: Node): Promise<void> {
  const forgotten = forgottenOn(node)
  const due = { forgotten_at: { $ne: null }, _id: { $nin: [...forgotten] } }
  for (const { _id, sealed } of await Erasures.find(due).lean<StoredErasure[]>()) {
    // A restored erasure may be sealed with a key that was not kept. This node has nothing of that time in memory.
    const opened = tryUnseal(node.settings.sessionKeys, sealed, boundTo)
    if (opened !== null) {
      const erased = JSON.parse(opened) as ErasedAccount
      node.log.replaceInMemory(inMemory(erased))
      forgetProfile(node, erased.account)
      forgetCards(node)
      forgetPreviews(node)
    }
    await Erasures.updateOne({ _id }, { $addToSet: { forgotten_on: node.id } })
    forgotten.add(_id)
  }
}

/** Whether a live node may still have the account in memory, and write it. */
async function isRemembered({ now }: Node, _id: string): Promise<boolean> {
  const erasure = await Erasures.findOne({ _id }, { forgotten_on: 1 }).lean<StoredErasure>()
  const others = { _id: { $nin: erasure?.forgotten_on ?? [] }, seen_at: { $gt: new Date(now() - silentMilliseconds) } }
  return (await Nodes.exists(others)) !== null
}

export const followErasures = (node: Node): (() => void) =>
  every(node, lookMilliseconds, () => forgetErased(node), 'erased accounts are still in memory')
