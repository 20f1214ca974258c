import { Agents } from '#server/domains/agents/agent-state/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { KeptRestrictions } from '#server/domains/moderation/moderation/model'
import { Payments } from '#server/domains/payments/payments/model'
import { accountOf, endErasing, keepAccount, planErasure, plazaAccount } from '#server/domains/people/accounts/accounts'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { refuseReach } from '#server/domains/people/accounts/roles'
import { Sessions } from '#server/domains/people/identity/model'
import { endAllSessions } from '#server/domains/people/identity/sessions'
import { Webhooks } from '#server/domains/platform/webhooks/model'
import { membershipsOf } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { type ErasureLine, erasuresOf } from '#server/kernel/erasure-list'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { newId } from '#server/kernel/ids'
import { recordReason } from '#server/kernel/operate/audit'
import { giveBlob } from '#server/kernel/page'
import { seal, tryUnseal } from '#server/kernel/seal'
import { AuditLines } from '#server/kernel/store/model'
import { every } from '#server/kernel/work/every'
import { ownData as contract, type MessagesOfErased } from '#shared/api/platform/own-data'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { freshMilliseconds } from '#shared/kit/contract'
import { completeFile, lackingErasures, newAlias, storeErasures } from './alias.ts'
import { erasing, followErasures, keeping, noteErasure, resumeRemovals, settling } from './erasing.ts'
import { reminding, writeOfErasure } from './erasure-letters.ts'
import {
  archiveRemoval,
  beginExport,
  exportJob,
  exportMessage,
  exportOf,
  hasArchive,
  renderExport,
} from './export-jobs.ts'
import type { StoredExport } from './model.ts'
import { erasureSettings } from './settings.ts'

const path = '/archives/'
const boundTo = 'own-data archive'
const addressMilliseconds = 600_000

/** The address of an archive, valid for ten minutes for anyone who has it. */
function archiveAddressOf({ settings, now }: Node, { _id, export_id }: StoredExport): string {
  const ticket = JSON.stringify([_id, export_id, now() + addressMilliseconds])
  return `${settings.publicUrl}${path}${seal(settings.sessionKeys, ticket, boundTo)}`
}

const gone = () => new AppError('NOT_FOUND', { message: 'There is no such archive, or its address is no longer good' })

const downloadRoute = (node: Node): RawRoute => ({
  path: `${path}:ticket`,
  answer: 'file',
  async give(request, response) {
    const opened = tryUnseal(node.settings.sessionKeys, String(request.params.ticket), boundTo)
    if (opened === null) throw gone()
    const [account, export_id, until] = JSON.parse(opened) as [string, string, number]
    const stored = await exportOf(account)
    const now = node.now()
    if (until <= now || stored?.export_id !== export_id || !hasArchive(stored, now)) throw gone()
    const about = {
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="plaza-${stored.created_at.toISOString().slice(0, 10)}.zip"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'private, no-store',
      'X-Robots-Tag': 'none',
      'Accept-Ranges': 'bytes',
    }
    const { storage } = node.services
    if (!storage || !(await giveBlob(storage, stored.key, about, request, response))) throw gone()
    return true
  },
})

const reminderMilliseconds = 2 * 86_400_000

/** Refuses an erasure that is not confirmed by the name or the address of the account. */
function refuseUnconfirmed(account: Account, confirm: string): void {
  const given = confirm.trim()
  const names = [account.display_name, account.username, account.username && `@${account.username}`]
  const isNamed = names.some((name) => name?.trim().toLowerCase() === given.toLowerCase())
  if ((given !== '' && isNamed) || isSameAccount(account._id, given)) return
  throw new AppError('VALIDATION_ERROR', {
    message: 'confirm: type the name or the address of your account',
    details: { path: 'confirm' },
  })
}

interface Asked {
  id: string
  account: string
  messages: MessagesOfErased
  /** So long the erasure can be taken back. */
  graceMilliseconds: number
}

/** Plans the erasure of an account, and signs it out everywhere. */
async function planFor(node: Node, { id, account, messages, graceMilliseconds }: Asked): Promise<Date> {
  const dueAt = node.now() + graceMilliseconds
  const erased_at = new Date(dueAt)
  await planErasure(account, id, erased_at)
  const work = { id, account, alias: newAlias(), messages }
  await noteErasure(node, work, erased_at)
  await node.jobs.add(erasing, work, `erasure ${id}`, dueAt)
  if (graceMilliseconds > 0) {
    const remindAt = dueAt - Math.min(reminderMilliseconds, graceMilliseconds / 2)
    await node.jobs.add(reminding, { id, account }, `erasure-reminder-due ${id}`, remindAt)
    await writeOfErasure(node, account, id, 'notice')
  }
  await endAllSessions(node, account)
  forgetProfile(node, account)
  return erased_at
}

/** What an erasure would end, by count. */
async function countedFor(account: string, now: number) {
  const upcoming = { parties: account, scheduled_at: { $gt: new Date(now) }, status: { $ne: 'cancelled' as const } }
  const [rooms, agents, streams, calls, webhooks, payments] = await Promise.all([
    Rooms.countDocuments({ owner_address: account, is_active: true }),
    Agents.countDocuments({ owner_address: account, visibility: { $ne: 'official' } }),
    Streams.countDocuments({ user_address: account }),
    Bookings.countDocuments(upcoming),
    Webhooks.countDocuments({ account }),
    Payments.countDocuments({ $or: [{ payer: account as `0x${string}` }, { pay_to: account as `0x${string}` }] }),
  ])
  return { rooms, agents, streams, calls, webhooks, payments }
}

async function erasureOf(account: string) {
  const known = await accountOf(account)
  if (!known) throw new AppError('UNAUTHORIZED')
  return { erased_at: known.erased_at?.toISOString() ?? null, kept_at: known.kept_at?.toISOString() ?? null }
}

const expiryMilliseconds = 3_600_000

/** Removes audit lines and IP addresses as old as the settings say, and bans of erased people that are over. What else has such an age has an expiry of its own. */
export async function removeExpired(node: Node): Promise<void> {
  const { auditMilliseconds, ipMilliseconds } = node.settings.retention
  const before = (age: number) => ({ $lte: new Date(node.now() - age) })
  await AuditLines.deleteMany({ at: before(auditMilliseconds) })
  const seen = { created_at: before(ipMilliseconds), ip_address: { $ne: '' } }
  await Sessions.updateMany(seen, { $set: { ip_address: '' } })
  await KeptRestrictions.deleteMany({ until: { $lte: new Date(node.now()) } })
}

const accountsAtOnce = 500

/** Erases accounts again that a restored backup has brought back, and completes both lists. */
export async function followErasureList(node: Node): Promise<void> {
  const lacking = await lackingErasures(node)
  if (lacking.length > 0) {
    await eraseRestored(node, lacking)
    await storeErasures(lacking)
  }
  await completeFile(node)
}

async function eraseRestored(node: Node, lines: readonly ErasureLine[]): Promise<void> {
  const erasureOf = erasuresOf(lines)
  for (let after = ''; ; ) {
    const page = Accounts.find({ _id: { $gt: after } }, { created_at: 1 })
      .sort({ _id: 1 })
      .limit(accountsAtOnce)
    const found = await page.lean<{ _id: string; created_at: Date }[]>()
    for (const { _id: account, created_at } of found) {
      const erasure = erasureOf(account, created_at)
      if (erasure) await eraseAgain(node, account, erasure)
    }
    if (found.length < accountsAtOnce) return
    after = found.at(-1)?._id ?? ''
  }
}

/** An erasure that was under way in the backup begins anew, because the key of its job may be lost. */
async function eraseAgain(node: Node, account: string, { messages }: ErasureLine): Promise<void> {
  await endErasing(account)
  await planFor(node, { id: newId(), account, messages, graceMilliseconds: 0 })
}

/** The erasures of which one address may begin so many. */
const erasuresAnHour = 10
const hourSeconds = 3_600

async function exportFor(context: Context, account: string, include_media: boolean) {
  const stored = await beginExport(context, account, include_media)
  const { export_id } = stored
  await context.node.jobs.add(exportJob, { account, export_id }, `export ${export_id}`)
  return renderExport(stored)
}

export const ownData = defineDomain(
  contract,
  {
    async beginExport({ include_media = false }, context) {
      return { export: await exportFor(context, signedIn(context).account, include_media) }
    },

    async readExport(_input, context) {
      const { account, session } = signedIn(context)
      const { node } = context
      const stored = await exportOf(account)
      const isFresh = session.provenAt !== null && node.now() - session.provenAt < freshMilliseconds
      return {
        export: stored && renderExport(stored),
        url: isFresh && hasArchive(stored, node.now()) ? archiveAddressOf(node, stored) : null,
      }
    },

    async exportUrl(_input, context) {
      const { node } = context
      const stored = await exportOf(signedIn(context).account)
      if (!hasArchive(stored, node.now())) throw new AppError('NOT_FOUND', { message: 'There is no archive of yours' })
      return { url: archiveAddressOf(node, stored) }
    },

    async readErasure(_input, context) {
      const { account } = signedIn(context)
      const { node } = context
      const [state, counts] = await Promise.all([erasureOf(account), countedFor(account, node.now())])
      return { ...state, grace_days: erasureSettings.of(node).graceDays, counts }
    },

    async erase({ messages, confirm }, context) {
      const { account } = signedIn(context)
      const known = await accountOf(account)
      if (!known) throw new AppError('UNAUTHORIZED')
      refuseUnconfirmed(known, confirm)
      // The job leaves each of these rooms.
      await context.charge((await membershipsOf(account)).length)
      const retryAfter = await context.node.limits.wait('erasures-from', context.caller.ip, erasuresAnHour, hourSeconds)
      if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
      const { graceMilliseconds } = erasureSettings.of(context.node)
      const asked = { id: context.creationId, account, messages, graceMilliseconds }
      context.connection?.answerFirst(context.requestId)
      const erased_at = await planFor(context.node, asked)
      context.http?.setSessionCookie(null)
      return { erased_at: erased_at.toISOString() }
    },

    async restore(_input, context) {
      const { account } = signedIn(context)
      await keepAccount(account, new Date(context.node.now()))
      forgetProfile(context.node, account)
      return erasureOf(account)
    },

    async exportUser({ address, include_media = false }, context) {
      if (!(await accountOf(address))) throw new AppError('USER_NOT_FOUND')
      return { export: await exportFor(context, address, include_media) }
    },

    async eraseUser({ address, reason, messages }, context) {
      const { node, creationId: id } = context
      const { account: admin } = signedIn(context)
      if (!(await accountOf(address)) || isSameAccount(address, plazaAccount)) throw new AppError('USER_NOT_FOUND')
      await refuseReach(node, admin, address)
      const erased_at = await planFor(node, { id, account: address, messages, graceMilliseconds: 0 })
      await recordReason(node, { id, admin, target: address, reason })
      return { erased_at: erased_at.toISOString() }
    },
  },
  {
    settings: erasureSettings,
    jobs: [exportJob, archiveRemoval, erasing, settling, keeping, reminding],
    routes: (node) => [downloadRoute(node)],
    start: (node) => [
      exportMessage.follow(node),
      followErasures(node),
      every(node, expiryMilliseconds, () => resumeRemovals(node), 'deletions and purges were not taken up again'),
      every(node, expiryMilliseconds, () => removeExpired(node), 'data of people was not removed in time'),
      every(node, expiryMilliseconds, () => followErasureList(node), 'the list of erased accounts is not complete'),
    ],
  },
)
