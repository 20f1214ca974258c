import { pipeline } from 'node:stream/promises'
import type { Node } from '#server/kernel/context'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { seal, tryUnseal } from '#server/kernel/seal'
import { AppError } from '#shared/errors'
import { exportOf, hasArchive } from './exports.ts'
import type { StoredExport } from './model.ts'

const path = '/archives/'
const boundTo = 'own-data archive'
const addressMilliseconds = 600_000

/** The address of an archive, valid for ten minutes for anyone who has it. */
export function archiveAddressOf({ settings, now }: Node, { _id, export_id }: StoredExport): string {
  const ticket = JSON.stringify([_id, export_id, now() + addressMilliseconds])
  return `${settings.publicUrl}${path}${seal(settings.sessionKeys, ticket, boundTo)}`
}

const gone = () => new AppError('NOT_FOUND', { message: 'There is no such archive, or its address is no longer good' })

export const downloadRoute = (node: Node): RawRoute => ({
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
