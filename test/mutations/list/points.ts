import type { Mutation } from '../mutation.ts'
import { byInvite, inPoints, invitedByAdmins } from './suites.ts'

/** What is given once, and to whom. */
export const points: readonly Mutation[] = [
  {
    name: 'points are given for what is not there',
    breaks: 'points',
    file: 'server/domains/points/actions.ts',
    find: 'null && (await isThere(account))\n  const points',
    put: 'null\n  const points',
    caughtBy: inPoints('no fewer'),
  },
  {
    name: 'a sum that is written late takes the place of a later one',
    breaks: 'points',
    file: 'server/domains/points/ledger.ts',
    find: '{ $max: { points } }',
    put: '{ $set: { points } }',
    caughtBy: inPoints('whichever is written last'),
  },
  {
    name: 'a sum that was not written stays unwritten',
    breaks: 'points',
    file: 'server/domains/points/ledger.ts',
    find: 'if (points !== written) await',
    put: 'if (points === written) await',
    caughtBy: inPoints('neither lost nor doubled'),
  },
  {
    name: 'the leaderboard shows who is suspended',
    breaks: 'points',
    file: 'server/domains/points/ranks.ts',
    find: '{ is_banned: false, points',
    put: '{ points',
    caughtBy: inPoints('nobody who is suspended'),
  },
  {
    name: 'a code invites as many as use it',
    breaks: 'invites',
    file: 'server/domains/invites/redeem.ts',
    find: 'most: max_uses || null',
    put: 'most: null',
    caughtBy: byInvite('one is invited'),
  },
  {
    name: 'what follows from an invite is left half done',
    breaks: 'invites',
    file: 'server/domains/invites/own.ts',
    find: 'if (!use.settled) await',
    put: 'if (use.settled) await',
    caughtBy: byInvite('a look by who invited'),
  },
  {
    name: 'an admin earns by codes that invite any number',
    breaks: 'invites',
    file: 'server/domains/invites/redeem.ts',
    find: 'if (!by_admin) await',
    put: 'await',
    caughtBy: invitedByAdmins('none to the admin'),
  },
]
