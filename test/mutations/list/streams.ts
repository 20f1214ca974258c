import type { Mutation } from '../mutation.ts'
import { inside, items, stopped, streams } from './suites.ts'

/** Answers that are sequences, and calls from inside the house. */
export const sequences: readonly Mutation[] = [
  {
    name: 'a sequence does not wait for its reader',
    breaks: 'T45',
    file: 'server/kernel/items.ts',
    find: 'if (response.write(line)) return undefined',
    put: 'if (response.write(line) || line) return undefined',
    caughtBy: items('who does not read'),
  },
  {
    name: 'an item is not checked',
    breaks: 'T43',
    file: 'server/kernel/invoke.ts',
    find: 'yield bound.operation.output.parse(item)',
    put: 'yield item',
    caughtBy: items('each item passes'),
  },
  {
    name: 'the end of a session ends no sequence',
    breaks: 'T04',
    file: 'server/kernel/streams.ts',
    find: 'if (caller.account !== account) return false',
    put: 'if (caller.account !== null) return false',
    caughtBy: items('a session ends its own'),
  },
  {
    name: 'who follows a room is not found out again',
    breaks: 'T04',
    file: 'server/domains/messages/catch-up.ts',
    find: 'refuseEnded(context, next.caller)',
    put: '',
    caughtBy: streams('holds no item of after'),
  },
  {
    name: 'who is suspended is not told so',
    breaks: 'T04',
    file: 'server/domains/messages/catch-up.ts',
    find: "if (next.isSuspended && !start.isSuspended) throw new AppError('SUSPENDED')",
    put: '',
    caughtBy: streams('ends for who is suspended'),
  },
  {
    name: 'a stop leaves sequences open',
    breaks: 'P11',
    file: 'server/app.ts',
    find: 'streams.drain()',
    put: '',
    caughtBy: stopped,
  },
  {
    name: 'every page of a room is answered as a sequence',
    breaks: 'M50',
    file: 'server/kernel/http.ts',
    find: "request.query[name] === value) ? undefined : 'route'",
    put: "request.query[name] !== value) ? undefined : 'route'",
    caughtBy: streams('is asked for by'),
  },
  {
    name: 'a call from inside counts as one of the account',
    breaks: 'T45',
    file: 'server/kernel/invoke.ts',
    find: "if (door === 'inside') return",
    put: '',
    caughtBy: inside('the house calls as often'),
  },
  {
    name: 'who is called for inside has just signed in',
    breaks: 'M08',
    file: 'server/kernel/call-as.ts',
    find: 'provenAt: null,',
    put: 'provenAt: Number.MAX_SAFE_INTEGER,',
    caughtBy: inside('nobody does inside'),
  },
]
