// Modes: embedded
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkEntry } from '#server/domains/events'
import { roomTopicChanged } from '#server/domains/rooms/room-state/events/rooms'
import type { Entry } from '#server/log/types'
import { boot } from '#test/support/boot'

const actor = { name: 'Ada', role: 'owner' }
const topic = { actor, topic: 'Pears' }

test.each([
  { type: 'room.topic_changed', body: topic },
  { type: 'account.suspended', body: {} },
  { type: 'room.updated', body: { actor, patch: { name: 'Tea' } } },
])('an entry of $type is what its record declares', (entry) => {
  expect(checkEntry(entry)).toBeUndefined()
})

test.each<[string, Entry]>([
  ['a field is missing', { type: 'room.topic_changed', body: { actor } }],
  ['a field is of another type', { type: 'room.topic_changed', body: { actor, topic: 7 } }],
  ['a field is not declared', { type: 'room.topic_changed', body: { ...topic, secret: 'x' } }],
  ['a field within it is not declared', { type: 'room.updated', body: { actor, patch: { secret: 'x' } } }],
  ['nobody has signed it', { type: 'room.topic_changed', body: { topic: 'Pears' } }],
  ['no event is declared so', { type: 'room.of_tomorrow', body: { actor } }],
])('an entry is refused where %s', (_why, entry) => {
  expect(() => checkEntry(entry)).toThrow()
})

test.each([
  ['test', 'refused', {}],
  ['production', 'stored', { NODE_ENV: 'production', SESSION_KEYS: `k1:${randomBytes(32).toString('base64')}` }],
])('in %s an entry that says more than its record declares is %s', async (_mode, outcome, environment) => {
  const isStored = outcome === 'stored'
  const server = await boot({ nodes: 1, environment })
  const log = server.apps[0]?.node.log
  const entry = { type: 'room.topic_changed', body: { ...topic, secret: 'x' } }
  const append = () => log?.act('alpha', { sender: 'ada', makes: roomTopicChanged, judge: () => ({ accept: entry }) })
  try {
    if (isStored) await expect(append()).resolves.toMatchObject({ row: { seq: 1 } })
    else await expect(append()).rejects.toThrow('declared')
    expect(await log?.head('alpha')).toMatchObject({ seq: isStored ? 1 : 0 })
  } finally {
    await server.close()
  }
})
