import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { namedFiles, removeUnnamedFiles } from '#server/domains/media/files/removal'
import { keepRestrictions } from '#server/domains/moderation/moderation/people'
import {
  accountOf,
  beginErasing,
  holdUsername,
  plazaAccount,
  removeAccount,
} from '#server/domains/people/accounts/accounts'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { Nodes } from '#server/domains/platform/cluster/model'
import { forgetPreviews } from '#server/domains/rooms/inbox/counts'
import { closeConversationsWith } from '#server/domains/rooms/messages/live'
import { removingPurged } from '#server/domains/rooms/messages/removals'
import { openPurges } from '#server/domains/rooms/room-state/redaction'
import { forgetCards } from '#server/domains/rooms/room-state/rows'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { recordReceipt } from '#server/kernel/operate/audit'
import { nodeState } from '#server/kernel/operate/node-state'
import { seal, tryUnseal } from '#server/kernel/seal'
import { declaredModels } from '#server/kernel/store/model'
import { every } from '#server/kernel/work/every'
import { job } from '#server/kernel/work/jobs'
import { takeLease, withLease } from '#server/kernel/work/lease'
import { type QueryFilter, upsert } from '#server/ports/database/port'
import { blobOf } from '#server/ports/storage/port'
import { MessagesOfErased } from '#shared/api/platform/own-data'
import { isSameAccount } from '#shared/kit/accounts'
import { type ErasedAccount, inMemory, isBetween, listErased, withAlias } from './alias.ts'
import { endAll, hideMessages, removeTexts } from './endings.ts'
import { eraseRows } from './erased-rows.ts'
import { Erasures, erasureLease, type StoredErasure } from './model.ts'

const filesAtOnce = 50

/**
 * Copies the files of an account that others show to keys with its alias. Rows name them so once it is erased. Files that nothing names are
 * removed; while `rows` are still to be erased, copies are not. Sealed messages of two name their files as before.
 * It can be ended and begun anew.
 */
export async function moveFiles(
  node: Node,
  erased: ErasedAccount,
  signal: AbortSignal,
  left: 'rows' | 'nothing',
): Promise<void> {
  const owner = { $in: [erased.account, erased.alias] }
  const isRenamed = ({ room }: { room: string }) => !isBetween(room, erased.account)
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const own = { owner, _id: { $gt: after } }
    const found = await UploadRecords.find(own).sort({ _id: 1 }).limit(filesAtOnce).lean<StoredUpload[]>()
    if (found.length === 0) return
    const isCopy = ({ _id }: StoredUpload) => withAlias(_id, erased) === _id
    const pairs = found.filter((one) => !isCopy(one)).map((file) => ({ file, copy: copyOf(node, file, erased) }))
    const named = await namedFiles(
      node,
      pairs.flatMap(({ file, copy }) => [file, copy]),
      isRenamed,
    )
    for (const { file, copy } of pairs) {
      signal.throwIfAborted()
      if (named.has(file._id) || named.has(copy._id)) await storeCopy(node, file, copy)
    }
    const unwanted = left === 'rows' ? pairs.map(({ file }) => file) : found
    await removeUnnamedFiles(
      node,
      unwanted.map(({ _id }) => _id),
    )
    if (found.length < filesAtOnce) return
    after = found.at(-1)?._id ?? ''
  }
}

/** The record of a copy. Its vector is that of no message, as one key seals a vector once. */
function copyOf(node: Node, file: StoredUpload, erased: ErasedAccount): StoredUpload {
  const { commitment, evidence_of, is_as_sent, bytes, created_at } = file
  const _id = withAlias(file._id, erased)
  return {
    _id,
    owner: erased.alias,
    url: withAlias(file.url, erased),
    bytes,
    created_at,
    vector: _id,
    content: _id,
    ...(commitment !== undefined && { commitment }),
    ...(evidence_of !== undefined && { evidence_of }),
    ...(is_as_sent !== undefined && { is_as_sent }),
    claim: newId(),
    claims: [],
    checked_at: new Date(node.now()),
  }
}

/** The record is stored first, so that the sweep finds what a process leaves behind that dies meanwhile. */
async function storeCopy(node: Node, file: StoredUpload, copy: StoredUpload): Promise<void> {
  const { storage } = node.services
  const { _id, claim, checked_at, ...fields } = copy
  if (!storage || (await storage.sizeOf(file._id)) === null) return
  const kept = { $set: { claim, checked_at }, $setOnInsert: fields, $unset: { taken_at: '' } }
  await upsert(() => UploadRecords.updateOne({ _id }, kept, { upsert: true }))
  if ((await storage.sizeOf(_id)) === null) {
    const found = await storage.read(file._id)
    if (!found) return
    await storage.put(_id, blobOf(found)).finally(() => found.bytes.destroy())
  }
  await UploadRecords.updateOne({ _id }, { $set: { stored_at: new Date(node.now()) } })
}

const boundTo = 'own-data erasure'
const dayMilliseconds = 86_400_000
/** Until calls under way have ended. */
const settlingMilliseconds = 60_000
/** A node without a heartbeat for so long has ended. */
const silentMilliseconds = 30_000
const passesAtMost = 10
/** So many accounts are erased together; each has a lease of its own meanwhile. */
const togetherAtMost = 100
const lookMilliseconds = 5_000
const forgetMilliseconds = 10_000

const Erasing = z.object({
  id: z.string(),
  account: z.string(),
  alias: z.string(),
  messages: MessagesOfErased,
})
type Erasing = z.output<typeof Erasing>

/** Erases all accounts whose time has come, so that the log is read once for them. A run that was ended begins anew. */
export const erasing = job({
  kind: 'own-data.erase',
  payload: Erasing,
  atOnce: 1,
  async run(work, { node, signal }) {
    const { id } = work
    await noteErasure(node, work, new Date(node.now()))
    const { failed, unfinished } = await withFreeErasures(node, { forgotten_at: null }, signal, eraseTogether)
    const stored = await Erasures.findOne({ _id: id }).lean<StoredErasure>()
    if (!stored) return
    if (failed.has(id)) throw failed.get(id)
    if (unfinished.has(id)) return node.now()
    if (stored.forgotten_at === null) return node.now() + lookMilliseconds
    await tryToForget(node)
    await node.jobs.add(settling, work, `erasure-settled ${id}`, stored.forgotten_at.getTime() + settlingMilliseconds)
  },
})

interface Round {
  /** The errors of accounts that could not be ended. */
  failed: ReadonlyMap<string, unknown>
  /** Those of which texts are left: the next run goes on with them, and no attempt has failed. */
  unfinished: ReadonlySet<string>
}

/** Erases these accounts. What all of them wrote is hidden before the texts of the first are removed. */
async function eraseTogether(node: Node, due: readonly Erasing[], signal: AbortSignal): Promise<Round> {
  const failed = new Map<string, unknown>()
  const unfinished = new Set<string>()
  const each = async (ones: readonly Erasing[], work: (one: Erasing) => Promise<boolean>): Promise<Erasing[]> => {
    const over: Erasing[] = []
    for (const one of ones) {
      signal.throwIfAborted()
      await work(one).then(
        (isOver) => void (isOver && over.push(one)),
        (error: unknown) => void failed.set(one.id, error),
      )
    }
    return over
  }
  const hidden = await each(due, (one) => hide(node, one, signal))
  const emptied = await each(hidden, async (one) => {
    if (await removeTexts(node, one.account, signal)) return true
    unfinished.add(one.id)
    return false
  })
  const begun = await each(emptied, async (one) => {
    await moveFiles(node, one, signal, 'rows')
    await keepRestrictions(node, one.account)
    return true
  })
  signal.throwIfAborted()
  await eraseOnce(begun, signal)
  const forgotten = { $set: { forgotten_at: new Date(node.now()) } }
  await Erasures.updateMany({ _id: { $in: begun.map(({ id }) => id) } }, forgotten)
  return { failed, unfinished }
}

/** Ends what an account has under way, and hides its messages. False if it may not be erased, or is not to be any more. */
async function hide(node: Node, erased: Erasing, signal: AbortSignal): Promise<boolean> {
  if (isSameAccount(erased.account, plazaAccount) || !(await beginErasing(erased.account, erased.id))) {
    await Erasures.deleteOne({ _id: erased.id })
    return false
  }
  await endAll(node, erased, signal)
  await hideMessages(node, erased, signal)
  return true
}

/**
 * Ends all erasures that are due, once every node has forgotten the accounts. Running calls and the memory of a node may have written
 * rows meanwhile, which go first.
 */
export const settling = job({
  kind: 'own-data.settle-erasure',
  payload: Erasing,
  atOnce: 1,
  async run(work, { node, signal }) {
    await tryToForget(node)
    const forgotten_at = { $lte: new Date(node.now() - settlingMilliseconds) }
    await withFreeErasures(node, { forgotten_at, finished_at: null }, signal, settleTogether)
    const isUnfinished = await Erasures.exists({ _id: work.id, finished_at: null })
    return isUnfinished ? node.now() + lookMilliseconds : undefined
  },
})

async function settleTogether(node: Node, due: readonly Erasing[], signal: AbortSignal): Promise<void> {
  const ready: Erasing[] = []
  const left: Erasing[] = []
  for (const one of due) {
    if (await isRemembered(node, one.id)) continue
    ready.push(one)
    // Otherwise an ended run has removed it, and a new account may have its address.
    if ((await accountOf(one.account))?.erasure_id !== one.id) continue
    left.push(one)
    await keepRestrictions(node, one.account)
  }
  await eraseUntilNothingIsLeft(left, signal)
  for (const one of left) {
    await moveFiles(node, one, signal, 'nothing')
    await removeErased(node, one)
  }
  for (const { id: _id, alias } of ready) {
    const stored = await Erasures.findOne({ _id }).lean<StoredErasure>()
    await recordReceipt(node, { id: _id, alias, counts: stored?.counts ?? {} })
    const [finished_at, expires_at] = [new Date(node.now()), new Date(node.now() + dayMilliseconds)]
    await Erasures.updateOne({ _id }, { $set: { finished_at, expires_at } })
  }
}

async function removeErased(node: Node, erased: Erasing): Promise<void> {
  const { id, account, alias } = erased
  const now = node.now()
  for (const days of keptDays())
    await node.jobs.add(keeping, { alias, days }, `erasure-kept ${id} ${days}`, now + days * dayMilliseconds)
  const known = await accountOf(account)
  if (known?.username) await holdUsername(known.username, now)
  await listErased(node, erased, now)
  await removeAccount(account, new Date(now))
  forgetProfile(node, account)
}

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

/** Stores an erasure that is planned, if it is not stored yet. */
export async function noteErasure(node: Node, { id, ...erased }: Erasing, due_at: Date): Promise<void> {
  const sealed = seal(node.settings.sessionKeys, JSON.stringify(erased), boundTo)
  const planned = { run: null, due_at, sealed, counts: {}, forgotten_at: null, forgotten_on: [], finished_at: null }
  await upsert(() => Erasures.updateOne({ _id: id }, { $setOnInsert: planned }, { upsert: true }))
}

/** What nobody has removed for so long has lost its job, which was given up. */
const idleMilliseconds = 3_600_000

/** Takes up erasures and removals of purged texts whose job was given up, once a day. */
export async function resumeRemovals(node: Node): Promise<void> {
  const now = node.now()
  const today = Math.floor(now / dayMilliseconds)
  const idle = { finished_at: null, due_at: { $lte: new Date(now - idleMilliseconds) } }
  for (const stored of await Erasures.find(idle).lean<StoredErasure[]>()) {
    const erased = openedErasure(node, stored)
    const next = stored.forgotten_at === null ? erasing : settling
    if (erased) await node.jobs.add(next, erased, `${next.kind} ${erased.id} ${today}`)
  }
  for (const { room, account, at } of await openPurges()) {
    if (Date.parse(at) > now - idleMilliseconds) continue
    // The id of a job names nobody.
    const id = createHash('sha256').update(`${room}|${account}`).digest('base64url')
    await node.jobs.add(removingPurged, { room, account, until: now }, `${removingPurged.kind} ${id} ${today}`)
  }
}

/** The account and its alias; null where the key is not kept any more. */
function openedErasure(node: Node, { _id: id, sealed }: StoredErasure): Erasing | null {
  const opened = tryUnseal(node.settings.sessionKeys, sealed, boundTo)
  return opened === null ? null : { id, ...(JSON.parse(opened) as ErasedAccount) }
}

/** Works at the erasures that match and that no other run has. */
async function withFreeErasures<Done>(
  node: Node,
  filter: QueryFilter<StoredErasure>,
  signal: AbortSignal,
  work: (node: Node, erasures: readonly Erasing[], signal: AbortSignal) => Promise<Done>,
  taken: readonly StoredErasure[] = [],
): Promise<Done> {
  const next = taken.length < togetherAtMost ? await takeLease(erasureLease, node, filter) : null
  const opened = taken.flatMap((one) => openedErasure(node, one) ?? [])
  if (!next) return work(node, opened, signal)
  return withLease(erasureLease, node, next, (held) =>
    withFreeErasures(node, filter, AbortSignal.any([signal, held.signal]), work, [...taken, next]),
  )
}

/** Counts what was erased for each account. Returns the models of which something was left. */
async function eraseOnce(all: readonly Erasing[], signal: AbortSignal): Promise<string[]> {
  if (all.length === 0) return []
  const counts = await eraseRows(all, signal)
  for (const [at, { id: _id }] of all.entries()) {
    const counted = Object.entries(counts[at] ?? {}).map(([model, rows]) => [`counts.${model}`, rows])
    if (counted.length > 0) await Erasures.updateOne({ _id }, { $inc: Object.fromEntries(counted) })
  }
  return counts.flatMap((one) => Object.keys(one))
}

async function eraseUntilNothingIsLeft(all: readonly Erasing[], signal: AbortSignal): Promise<void> {
  let left: string[] = []
  for (let pass = 0; pass < passesAtMost; pass++) {
    left = await eraseOnce(all, signal)
    if (left.length === 0) return
  }
  throw new Error(`Rows of ${[...new Set(left)].join(', ')} come back`)
}

const forgottenOn = nodeState(() => new Set<string>())

/** Has this node forget those accounts that the store has forgotten. */
async function forgetErased(node: Node): Promise<void> {
  const forgotten = forgottenOn(node)
  const due = { forgotten_at: { $ne: null }, _id: { $nin: [...forgotten] } }
  const accounts = new Set<string>()
  for (const stored of await Erasures.find(due).lean<StoredErasure[]>()) {
    const { _id } = stored
    // A restored erasure may be sealed with a key that was not kept. This node has nothing of that time in memory.
    const erased = openedErasure(node, stored)
    if (erased) {
      node.log.replaceInMemory(inMemory(erased))
      forgetProfile(node, erased.account)
      forgetCards(node)
      forgetPreviews(node)
      accounts.add(erased.account)
    }
    await Erasures.updateOne({ _id }, { $addToSet: { forgotten_on: node.id } })
    forgotten.add(_id)
  }
  if (accounts.size > 0) closeConversationsWith(node, accounts)
}

const unforgotten = 'erased accounts are still in memory'

/** A node that cannot forget now is waited for. It repeats that by itself, so no job of any node fails by it. */
const tryToForget = (node: Node): Promise<void> =>
  forgetErased(node).catch((error: unknown) => node.logger.warn({ error }, unforgotten))

/** Whether a live node may still have the account in memory, and write it. */
async function isRemembered({ now }: Node, _id: string): Promise<boolean> {
  const erasure = await Erasures.findOne({ _id }, { forgotten_on: 1 }).lean<StoredErasure>()
  const others = { _id: { $nin: erasure?.forgotten_on ?? [] }, seen_at: { $gt: new Date(now() - silentMilliseconds) } }
  return (await Nodes.exists(others)) !== null
}

export const followErasures = (node: Node): (() => void) =>
  every(node, forgetMilliseconds, () => forgetErased(node), unforgotten)
