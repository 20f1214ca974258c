import type { Mutation } from '../mutation.ts'
import { domainsAreBound, startedWork } from './suites.ts'

/** What a domain is, and what is asked of it. */
export const domains: readonly Mutation[] = [
  {
    name: 'an operation is bound under the name of another domain',
    breaks: 'domains',
    file: 'server/kernel/domain.ts',
    find: 'implement(name, contract, actions)',
    put: "implement(name.replace('inbox', 'rooms'), contract, actions)",
    caughtBy: domainsAreBound,
  },
  {
    name: 'domains start nothing',
    breaks: 'domains',
    file: 'server/kernel/domain.ts',
    find: 'domain.start?.(node) ?? []',
    put: '(node ? [] : (domain.start?.(node) ?? []))',
    caughtBy: startedWork,
  },
]
