import { expect, test } from 'vitest'
import { projection } from '#server/domains/rooms/room-state/projection'
import type { Row } from '#server/log/types'
import { plainMessage } from '#test/support/plain-message'

const actor = { name: 'mod', role: null }
const message = { actor, ...plainMessage('hello') }

const row = (seq: number, type: string, body: Row['body'], more: Partial<Row> = {}): Row => ({
  _id: `m${seq}`,
  room: 'channel:a',
  seq,
  epoch: 'e',
  type,
  n: null,
  total: 0,
  sender: 'ada',
  cid: `c${seq}`,
  body,
  target: null,
  until: null,
  reason: null,
  at: seq,
  chain: '',
  chained: false,
  applied_seq: seq,
  v: 1,
  ...more,
})

test('a purge takes every message of its range, the first and the last too, and none beside it', () => {
  const body = { actor, from_seq: 2, to_seq: 4, by: 'mod', at: 'now', reason: null, count: 3, unpinned: [] }
  const purge = row(6, 'messages.purged', body, { sender: 'mod', target: 'ada' })
  const rewrite = projection.rewrites?.(purge)
  const goneOf = (sender: string) =>
    [1, 2, 3, 4, 5].filter((seq) => {
      const after = rewrite?.(row(seq, 'message.created', message, { sender }))
      return after?.body.deleted !== null && after?.body.text === ''
    })
  expect([goneOf('ada'), goneOf('bo')]).toEqual([[2, 3, 4], []])
})

test('P6: a ban ends the membership, and is acknowledged when every node has taken it', () => {
  const ban = { ban_id: 'b', user_address: 'ada', banned_by: 'mod', reason: null, banned_at: '', banned_until: null }
  const applied = row(2, 'moderation.applied', { actor, action: 'ban', ban }, { sender: 'mod', target: 'ada' })
  expect(projection.changes(applied)).toEqual([
    { key: 'ban:ada', value: ban },
    { key: 'member:ada', value: null },
  ])
  expect(projection.holdsEverywhere('moderation.applied')).toBe(true)
})
