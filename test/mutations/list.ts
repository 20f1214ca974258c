import { acts } from './list/acts.ts'
import { domains } from './list/domains.ts'
import { embedded } from './list/embedded.ts'
import { following } from './list/following.ts'
import { guards } from './list/guards.ts'
import { identity } from './list/identity.ts'
import { journalled } from './list/journal.ts'
import { keyed } from './list/keyed.ts'
import { kinds } from './list/kinds.ts'
import { mends } from './list/mends.ts'
import { product } from './list/product.ts'
import { protocols } from './list/protocols.ts'
import { records } from './list/records.ts'
import { sdk } from './list/sdk.ts'
import { stored } from './list/stored.ts'
import { sequences } from './list/streams.ts'
import { terms } from './list/terms.ts'
import type { Mutation } from './mutation.ts'

/** One or more for each promise and each rule of the log; every one must be caught. */
export const mutations: readonly Mutation[] = [
  ...acts,
  ...following,
  ...records,
  ...product,
  ...mends,
  ...guards,
  ...domains,
  ...kinds,
  ...identity,
  ...sdk,
  ...sequences,
  ...protocols,
  ...terms,
  ...keyed,
  ...stored,
  ...embedded,
  ...journalled,
]
