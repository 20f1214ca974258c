import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { keepAccount } from '#server/domains/people/accounts/leaving'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { refuseReach } from '#server/domains/people/accounts/roles'
import { membershipsOf } from '#server/domains/rooms/room-state/membership'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { recordReason } from '#server/kernel/operate/audit'
import { every } from '#server/kernel/work/every'
import { ownData as contract } from '#shared/api/platform/own-data'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { freshMilliseconds } from '#shared/kit/contract'
import { archiveAddressOf, downloadRoute } from './download.ts'
import { erasing, followErasures, keeping, reminding, settling } from './erasing.ts'
import { countedFor, erasureOf, planFor, refuseUnconfirmed } from './erasures.ts'
import { expiryMilliseconds, removeExpired } from './expiry.ts'
import { archiveRemoval, exportJob } from './export-jobs.ts'
import { beginExport, exportMessage, exportOf, hasArchive, renderExport } from './exports.ts'
import { followErasureList } from './restored.ts'
import { erasureSettings } from './settings.ts'

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
      await recordReason(node, { id, admin, reason })
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
      every(node, expiryMilliseconds, () => removeExpired(node), 'data of people was not removed in time'),
      every(node, expiryMilliseconds, () => followErasureList(node), 'the list of erased accounts is not complete'),
    ],
  },
)
