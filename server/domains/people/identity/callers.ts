import { isSuspended, roleOf } from '#server/domains/people/accounts/roles'
import type { Node } from '#server/kernel/context'
import type { Callers } from '#server/kernel/domain'
import { identifyAdmin } from './admin-proof.ts'
import { alive, identify } from './sessions.ts'
import { describe } from './sign-in.ts'

/** The functions by which both doors identify callers. */
export const callersOf = (node: Node): Callers => ({
  identify: identify(node),
  identifyAdmin: identifyAdmin(node),
  alive: alive(node),
  describe: describe(node),
  roleOf: (account) => roleOf(node, account),
  isSuspended: (account) => isSuspended(node, account),
})
