import type { Mutation } from '../mutation.ts'
import { commits, searchBlocks, searched } from './suites.ts'

/** What is stored beside the log, and under it. */
export const stored: readonly Mutation[] = [
  {
    name: 'the words of a purged message stay',
    breaks: 'M11',
    file: 'server/domains/room-state/redaction.ts',
    find: 'sent.map(({ n }) => n),',
    put: 'sent.filter(isThere).map(({ n }) => n),',
    caughtBy: searchBlocks,
  },
  {
    name: 'the words of a changed message stay',
    breaks: 'M11',
    file: 'server/domains/room-state/records.ts',
    find: 'if (changesText(row)) await forgetTerms(room, [n])',
    put: '',
    caughtBy: searched,
  },
  {
    name: 'words that were taken back while a block was filed are written',
    breaks: 'M11',
    file: 'server/domains/room-state/search-index.ts',
    find: '{ _id, claim }',
    put: '{ _id }',
    caughtBy: searchBlocks,
  },
  {
    name: 'a block that is filed twice is counted twice',
    breaks: 'M11',
    file: 'server/domains/room-state/search-index.ts',
    find: '{ _id: markOf(room), blocks: block }',
    put: '{ _id: markOf(room) }',
    caughtBy: searchBlocks,
  },
  {
    name: 'a block is filed without its last message',
    breaks: 'M11',
    file: 'server/domains/room-state/search-index.ts',
    find: '(block + 1) * blockSize)',
    put: '(block + 1) * blockSize - 1)',
    caughtBy: searchBlocks,
  },
  {
    name: 'the last message of a block is taken for one of the next',
    breaks: 'M11',
    file: 'server/domains/room-state/search-index.ts',
    find: 'Math.floor((n - 1) / blockSize)',
    put: 'Math.floor(n / blockSize)',
    caughtBy: searchBlocks,
  },
  {
    name: 'a commit is acknowledged though the lock was lost meanwhile',
    breaks: 'M26',
    file: 'server/ports/database/embedded/commits.ts',
    find: 'this.#checkAfter()\n      }',
    put: '}',
    caughtBy: commits('M26'),
  },
  {
    name: 'a commit is made though the lock is lost',
    breaks: 'M26',
    file: 'server/ports/database/embedded/commits.ts',
    find: 'this.#ground.check()\n        await',
    put: 'await',
    caughtBy: commits('M26'),
  },
]
