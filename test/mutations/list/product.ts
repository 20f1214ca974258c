import type { Mutation } from '../mutation.ts'
import { frames, projection, races } from './suites.ts'

/** Rooms and messages over the log. */
export const product: readonly Mutation[] = [
  {
    name: 'a purge leaves the newest message in memory',
    breaks: 'M50',
    file: 'server/domains/rooms/events/messages.ts',
    find: 'seq >= purge.from_seq && seq <= purge.to_seq',
    put: 'seq >= purge.from_seq && seq < purge.to_seq',
    caughtBy: projection,
  },
  {
    name: 'a ban leaves the member',
    breaks: 'P6',
    file: 'server/domains/rooms/events/people.ts',
    find: 'absolute(keys.ban(account), ban), ...gone(row, account, body)',
    put: 'absolute(keys.ban(account), ban)',
    caughtBy: projection,
  },
  {
    name: 'a ban is acknowledged before the other nodes know',
    breaks: 'P6',
    file: 'server/domains/rooms/events/people.ts',
    find: "  holdsEverywhere: true,\n  changesRights: 'of the target',\n  removes: ({ target }, { action })",
    put: "  changesRights: 'of the target',\n  removes: ({ target }, { action })",
    caughtBy: projection,
  },
  {
    name: 'a ban that is so already is appended again',
    breaks: 'P7',
    file: 'server/domains/moderation/people.ts',
    find: 'if (current && current.reason === (reason ?? null) && sameTerm(current.banned_at',
    put: 'if (false && current && current.reason === (reason ?? null) && sameTerm(current.banned_at',
    caughtBy: races('P7'),
  },
  {
    name: 'a row that takes somebody out does not end the frame',
    breaks: 'P9',
    file: 'server/domains/messages/frames.ts',
    find: 'if (removed === null && index < rows.length - 1) continue',
    put: 'if (index < rows.length - 1) continue',
    caughtBy: frames,
  },
  {
    name: 'who is banned stays in the room with every socket',
    breaks: 'P9',
    file: 'server/domains/messages/live.ts',
    find: '    takeOut(node, key, removed)',
    put: '',
    caughtBy: races('P9'),
  },
]
