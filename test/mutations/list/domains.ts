import type { Mutation } from '../mutation.ts'
import { apart, domainsAreBound, settings, settingsAreListed, startedWork, stateIsOnNodes } from './suites.ts'

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
    name: 'variables of a domain are taken as they are written',
    breaks: 'settings',
    file: 'server/kernel/settings.ts',
    find: 'read(checked(schema, given), installation)',
    put: 'read(given as never, installation)',
    caughtBy: settings,
  },
  {
    name: 'the chain of messages may be one that nobody may sign in from',
    breaks: 'settings',
    file: 'server/domains/identity/settings.ts',
    find: '!chainIds.includes(defaultChainId)',
    put: 'chainIds.length === 0',
    caughtBy: settings,
  },
  {
    name: 'a domain does not list its settings',
    breaks: 'settings',
    file: 'server/domains/passkeys/index.ts',
    find: '{ settings: passkeySettings }',
    put: '{}',
    caughtBy: settingsAreListed,
  },
  {
    name: 'only the first tenth of the connections is looked after',
    breaks: 'sweep',
    file: 'server/kernel/sockets/sweep.ts',
    find: 'if (done) round = walk(io)',
    put: 'round = walk(io)',
    caughtBy: { project: 'embedded', file: 'test/server/sessions.test.ts' },
  },
  {
    name: 'no node asks whether the sessions of its sockets still stand',
    breaks: 'nodes apart',
    file: 'server/kernel/sockets/sweep.ts',
    find: '() => void endWithoutSession(io, door)',
    put: '() => void io',
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
