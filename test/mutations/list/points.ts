import type { Mutation } from '../mutation.ts'
import { inPoints } from './suites.ts'

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
]
