import type { Mutation } from '../mutation.ts'
import { apart, domainsAreBound, startedWork, stateIsOnNodes } from './suites.ts'

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
  {
    name: 'no node asks whether the sessions of its sockets still stand',
    breaks: 'nodes apart',
    file: 'server/kernel/sockets/sweep.ts',
    find: '++sweeps % recheckSweeps === 0',
    put: '++sweeps < 0 && recheckSweeps > 0',
    caughtBy: apart('once a minute'),
  },
  {
    name: 'nodes of one process take turns at one search',
    breaks: 'nodes apart',
    file: 'server/domains/messages/search.ts',
    find: 'const turnOn = nodeState(createTurnstile)',
    put: 'const shared = createTurnstile()\nconst turnOn = nodeState(() => shared)',
    caughtBy: stateIsOnNodes,
  },
]
