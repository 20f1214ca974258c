import { pipeline } from 'node:stream/promises'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { RawRoute } from '#server/kernel/raw-route'
import { seal, tryUnseal } from '#server/kernel/seal'
import { ownData as contract } from '#shared/api/own-data'
import { AppError } from '#shared/errors'
import { freshMilliseconds } from '#shared/kit/contract'
import { archiveRemoval, exportJob } from './export-jobs.ts'
import { beginExport, exportOf, followExports, hasArchive, renderExport } from './exports.ts'
import type { StoredExport } from './model.ts'

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
    const found = await node.services.storage?.read(stored.key)
    if (!found) throw gone()
    response.set({
      'Content-Type': 'application/zip',
      'Content-Length': String(found.size),
      'Content-Disposition': `attachment; filename="plaza-${stored.created_at.toISOString().slice(0, 10)}.zip"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'private, no-store',
      'X-Robots-Tag': 'none',
    })
    if (request.method === 'HEAD') {
      found.bytes.destroy()
      response.end()
      return true
    }
    // The reader may disconnect at any time.
    await pipeline(found.bytes, response).catch(() => response.destroy())
    return true
  },
})

export const ownData = defineDomain(
  contract,
  {
    async beginExport({ include_media = false }, context) {
      const stored = await beginExport(context, include_media)
      const { _id: account, export_id } = stored
      await context.node.jobs.add(exportJob, { account, export_id }, `export ${export_id}`)
      return { export: renderExport(stored) }
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
  },
  {
    jobs: [exportJob, archiveRemoval],
    routes: (node) => [downloadRoute(node)],
    start: (node) => [followExports(node)],
  },
)
