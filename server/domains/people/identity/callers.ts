import { isSuspended, roleOf } from '#server/domains/people/accounts/roles'
import type { Node } from '#server/kernel/context'
import type { Callers } from '#server/kernel/domain'
import { identifyAdmin } from './admin-proof.ts'
import { identifyCaller, validSessions } from './sessions.ts'
import { describeCaller } from './sign-in.ts'

/** The functions by which both doors identify callers. */
export const callersOf = (node: Node): Callers => ({
  identify: identifyCaller(node),
  identifyAdmin: identifyAdmin(node),
  alive: validSessions(node),
  describe: describeCaller(node),
  roleOf: (account) => roleOf(node, account),
  isSuspended: (account) => isSuspended(node, account),
})
