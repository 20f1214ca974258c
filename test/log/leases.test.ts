import { afterEach, expect, test } from 'vitest'
import { GLOBAL } from '#server/log/index'
import { join, moderate, say } from './chat.ts'
import { clockOf, Nodes } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'

test('a node renews its leases and then reads `global`, so that nothing is acknowledged without it in between', async () => {
  nodes.hasHints = false
  let shift = 0
  let beforeLease: (() => Promise<unknown>) | null = null
  const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
  const one = nodes.start('one', { clock, pollMilliseconds: 60_000 })
  const other = nodes.start('other', {
    clock,
    pollMilliseconds: 60_000,
    reach: async (name, work) => {
      const first = name === 'writeLeases' ? beforeLease : null
      if (first) beforeLease = null
      await first?.()
      return work()
    },
  })
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  // It has seen the other node beat, and for how long it has not is what tells that it is dead.
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  shift = 11_000
  beforeLease = async () => {
    expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 0 })
  }
  await expect(other.act(room, say('ada'))).rejects.toMatchObject({ code: 'SUSPENDED' })
  expect(beforeLease).toBeNull()
})
