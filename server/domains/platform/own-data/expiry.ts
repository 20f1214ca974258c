import { KeptRestrictions } from '#server/domains/moderation/moderation/model'
import { Sessions } from '#server/domains/people/identity/model'
import type { Node } from '#server/kernel/context'
import { AuditLines } from '#server/kernel/store/model'

export const expiryMilliseconds = 3_600_000

/** Removes audit lines and IP addresses as old as the settings say, and bans of erased people that are over. What else has such an age has an expiry of its own. */
export async function removeExpired(node: Node): Promise<void> {
  const { auditMilliseconds, ipMilliseconds } = node.settings.retention
  const before = (age: number) => ({ $lte: new Date(node.now() - age) })
  await AuditLines.deleteMany({ at: before(auditMilliseconds) })
  const seen = { created_at: before(ipMilliseconds), ip_address: { $ne: '' } }
  await Sessions.updateMany(seen, { $set: { ip_address: '' } })
  await KeptRestrictions.deleteMany({ until: { $lte: new Date(node.now()) } })
}
