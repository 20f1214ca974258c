import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { every } from '#server/kernel/every'
import { ownData as contract } from '#shared/api/own-data'
import { AppError } from '#shared/errors'
import { freshMilliseconds } from '#shared/kit/contract'
import { addressOf, downloadRoute } from './download.ts'
import { expiryMilliseconds, removeExpired } from './expiry.ts'
import { exporting, removing } from './exporting.ts'
import { beginExport, exportOf, isThere, listenToExports, shownExport } from './exports.ts'

export const ownData = defineDomain(
  contract,
  {
    async beginExport({ include_media = false }, context) {
      const stored = await beginExport(context, include_media)
      const { _id: account, export_id } = stored
      await context.node.jobs.add(exporting, { account, export_id }, `export ${export_id}`)
      return { export: shownExport(stored) }
    },

    async readExport(_input, context) {
      const { account, session } = signedIn(context)
      const { node } = context
      const stored = await exportOf(account)
      const isFresh = session.provenAt !== null && node.now() - session.provenAt < freshMilliseconds
      return {
        export: stored && shownExport(stored),
        url: isFresh && isThere(stored, node.now()) ? addressOf(node, stored) : null,
      }
    },

    async exportUrl(_input, context) {
      const { node } = context
      const stored = await exportOf(signedIn(context).account)
      if (!isThere(stored, node.now())) throw new AppError('NOT_FOUND', { message: 'There is no archive of yours' })
      return { url: addressOf(node, stored) }
    },
  },
  {
    jobs: [exporting, removing],
    routes: (node) => [downloadRoute(node)],
    start: (node) => [
      listenToExports(node),
      every(node, expiryMilliseconds, () => removeExpired(node), 'data of people was not removed in time'),
    ],
  },
)
