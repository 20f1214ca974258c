import type { Mutation } from '../mutation.ts'
import { feed, outbox, pollsOfClient } from './suites.ts'

/** The reader and the writer in the client. */
export const sdk: readonly Mutation[] = [
  {
    name: 'an event of another log is taken for the next one',
    breaks: 'M50',
    file: 'client/sdk/feed.ts',
    find: 'this.epoch !== null && epoch !== this.epoch)) {',
    put: 'this.epoch !== null && epoch === null)) {',
    caughtBy: feed,
  },
  {
    name: 'a page of another log is taken for the next one',
    breaks: 'P5',
    file: 'client/sdk/feed.ts',
    find: 'return reset === true || (this.epoch !== null && epoch !== this.epoch)',
    put: 'return reset === true || epoch === null',
    caughtBy: feed,
  },
  {
    name: 'a catch-up ends with its first page',
    breaks: 'P5',
    file: 'client/sdk/feed.ts',
    find: 'if (page.complete || page.events.length === 0) return applied',
    put: 'return applied',
    caughtBy: feed,
  },
  {
    name: 'an event told twice is applied twice',
    breaks: 'P5',
    file: 'client/sdk/feed.ts',
    find: 'if (event.seq > this.seq && this.#held.size <= heldAtMost) this.#held.set(event.seq, event)',
    put: 'this.#fed.events([event])',
    caughtBy: feed,
  },
  {
    name: 'a retry by hand has a key of its own',
    breaks: 'M50',
    file: 'client/sdk/outbox.ts',
    find: "const again: Pending = { ...pending, status: 'queued', refusal: null }",
    put: "const again: Pending = { ...pending, client_msg_id: uuid(), status: 'queued', refusal: null }",
    caughtBy: outbox,
  },
  {
    name: 'a retry by itself has a key of its own',
    breaks: 'P2',
    file: 'client/sdk/outbox.ts',
    find: "this.#mark(client_msg_id, { status: 'queued' })\n    lane.waking",
    put: "this.#mark(client_msg_id, { status: 'queued', client_msg_id: uuid() })\n    lane.waking",
    caughtBy: outbox,
  },
  {
    name: 'messages of one room are sent beside one another',
    breaks: 'P4',
    file: 'client/sdk/outbox.ts',
    find: 'if (lane.isRunning) return',
    put: '',
    caughtBy: outbox,
  },
  {
    name: 'a vote of this account that was given elsewhere is not asked for',
    breaks: 'P5',
    file: 'client/sdk/polls.ts',
    find: 'votesChangedAt: mayBeOwn ? poll.version : votesChangedAt,',
    put: 'votesChangedAt,',
    caughtBy: pollsOfClient,
  },
  {
    name: 'the answer to a vote is lost after a later event',
    breaks: 'P5',
    file: 'client/sdk/polls.ts',
    find: 'if (before && before.votesKnownAt > poll.version) return state',
    put: 'if (before && before.version > poll.version) return state',
    caughtBy: pollsOfClient,
  },
]
