import { acts } from './list/acts.ts'
import { agents } from './list/agents.ts'
import { answers } from './list/answers.ts'
import { budgets } from './list/budgets.ts'
import { calls } from './list/calls.ts'
import { direct } from './list/direct.ts'
import { discovery } from './list/discovery.ts'
import { domains } from './list/domains.ts'
import { embedded } from './list/embedded.ts'
import { evidence } from './list/evidence.ts'
import { following } from './list/following.ts'
import { guards } from './list/guards.ts'
import { identity } from './list/identity.ts'
import { journalled } from './list/journal.ts'
import { keyed } from './list/keyed.ts'
import { kinds } from './list/kinds.ts'
import { knowledge } from './list/knowledge.ts'
import { media } from './list/media.ts'
import { meetings } from './list/meetings.ts'
import { mends } from './list/mends.ts'
import { models } from './list/models.ts'
import { payments } from './list/payments.ts'
import { people } from './list/people.ts'
import { points } from './list/points.ts'
import { product } from './list/product.ts'
import { protocols } from './list/protocols.ts'
import { push } from './list/push.ts'
import { records } from './list/records.ts'
import { runFaults } from './list/runs.ts'
import { scheduling } from './list/scheduling.ts'
import { sdk } from './list/sdk.ts'
import { staff } from './list/staff.ts'
import { stored } from './list/stored.ts'
import { sequences } from './list/streams.ts'
import { support } from './list/support.ts'
import { terms } from './list/terms.ts'
import { web } from './list/web.ts'
import { webhooks } from './list/webhooks.ts'
import type { Mutation } from './mutation.ts'

/** One or more for each promise and each rule of the log; every one must be caught. */
export const mutations: readonly Mutation[] = [
  ...acts,
  ...following,
  ...records,
  ...product,
  ...people,
  ...push,
  ...media,
  ...evidence,
  ...mends,
  ...guards,
  ...budgets,
  ...domains,
  ...kinds,
  ...identity,
  ...sdk,
  ...sequences,
  ...protocols,
  ...terms,
  ...keyed,
  ...direct,
  ...stored,
  ...embedded,
  ...journalled,
  ...web,
  ...webhooks,
  ...knowledge,
  ...payments,
  ...points,
  ...scheduling,
  ...staff,
  ...support,
  ...agents,
  ...answers,
  ...discovery,
  ...calls,
  ...meetings,
  ...models,
  ...runFaults,
]
