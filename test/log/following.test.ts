import { afterEach, expect, test } from 'vitest'
import { join, moderate, say } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const quick = { clock: clockOf(1_000), pollMilliseconds: 10_000 }
const leaseOf = (node: string) => nodes.memory.leases.get(`${node} ${room}`)?.confirmed

test('a poll reads heads from some seconds before the last poll, as the clock of another node may be behind', async () => {
  nodes.hasHints = false
  const behind = nodes.start('behind', { clock: { ...clockOf(1), now: () => Date.now() - 2_000 } })
  const other = nodes.start('other')
  await other.hold(room)
  await pause(120)
  await behind.act(room, join('ada'))
  await expect.poll(() => other.headHere(room)?.seq, { timeout: 2_000 }).toBe(1)
})

test('a page that begins before the rows in memory is read from the store', async () => {
  const node = nodes.alone()
  await node.act(room, join('ada'))
  for (let turn = 0; turn < 5; turn++) await Promise.all(Array.from({ length: 100 }, () => node.act(room, say('ada'))))
  for (const after of [0, 10, 290, 301, 400, 498]) {
    const seqs = (await node.read(room, after, 5)).map(({ seq }) => seq)
    expect(seqs).toEqual([1, 2, 3, 4, 5].map((step) => after + step).filter((seq) => seq <= 501))
  }
})

test('a room is not unloaded while it is held, and is unloaded a minute after', async () => {
  const other = nodes.start('other', quick)
  const release = await other.hold(room)
  await pause(150)
  expect(other.headHere(room)).toMatchObject({ seq: 0, total: 0 })
  expect(leaseOf('other')).toBe(0)
  release()
  await expect.poll(() => other.headHere(room), { timeout: 2_000 }).toBeNull()
})

test('a room is not unloaded while one of its records is unwritten', async () => {
  let isDown = true
  const other = nodes.start('other', {
    ...quick,
    records: {
      load: async (key, keys) => nodes.kept.load(key, keys),
      async save(key, changes) {
        if (isDown) throw new Error('Away.')
        nodes.kept.save(key, changes)
      },
    },
  })
  await expect(other.act(room, moderate('ban', 'ada'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  await pause(150)
  expect(other.headHere(room)).toMatchObject({ seq: 1 })
  isDown = false
  await expect.poll(() => nodes.kept.records.get(`${room} ban:ada`), { timeout: 2_000 }).toMatchObject({ seq: 1 })
})

test('a room that was unloaded is not followed any more', async () => {
  const followed: string[] = []
  const hints = {
    ...nodes.hints,
    follow: (key: string) => void followed.push(`+ ${key}`),
    leave: (key: string) => void followed.push(`- ${key}`),
  }
  const other = nodes.start('other', { ...quick, hints })
  await other.head(room)
  await expect.poll(() => followed, { timeout: 2_000 }).toEqual(['+ global', `+ ${room}`, `- ${room}`])
})

test('heads that could not be read for ten seconds are read once the store answers', async () => {
  nodes.hasHints = false
  let isAway = false
  const found: string[] = []
  const clock = clockOf(20)
  const one = nodes.start('one', { clock })
  const other = nodes.start('other', {
    clock,
    pollMilliseconds: 500,
    observer: { ...nodes.silent, healed: (by) => void found.push(by) },
    reach: async (name, work) => {
      if (name === 'headsMovedSince' && isAway) throw new Error('Away.')
      return work()
    },
  })
  await other.hold(room)
  isAway = true
  await one.act(room, join('ada'))
  await pause(500)
  isAway = false
  await expect.poll(() => found, { timeout: 2_000 }).toEqual(['poll'])
})

test('a failed comparison with the store is repeated by the next poll', async () => {
  nodes.hasHints = false
  const asked: number[] = []
  const clock = clockOf(100)
  const other = nodes.start('other', {
    clock,
    pollMilliseconds: 1_000,
    reach: async (name, work) => {
      if (name === 'advanced' && asked.push(clock.elapsed()) === 1) throw new Error('Away.')
      return work()
    },
  })
  await other.hold(room)
  await expect.poll(() => asked.length, { timeout: 2_000 }).toBeGreaterThan(1)
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeLessThan(20_000)
})

test('rows whose node died before it raised their head are found when the death is noticed, not 25 s later', async () => {
  nodes.hasHints = false
  const clock = clockOf(20)
  let isDead = false
  const one = nodes.start('one', {
    clock,
    pollMilliseconds: 500,
    reach: async (name, work) => {
      if (isDead && name !== 'insert') throw new Error('Dead.')
      return work()
    },
  })
  const heard: { seq: number; at: number }[] = []
  const other = nodes.start('other', { clock, pollMilliseconds: 500 })
  other.onRows((key, rows) => {
    if (key === room) for (const { seq } of rows) heard.push({ seq, at: clock.elapsed() })
  })
  await one.act(room, join('ada'))
  await other.hold(room)
  await pause(100)
  isDead = true
  const died = clock.elapsed()
  one.act(room, say('ada')).catch(() => {})
  await expect.poll(() => heard.find(({ seq }) => seq === 2), { timeout: 3_000 }).toBeTruthy()
  expect((heard.find(({ seq }) => seq === 2)?.at ?? 0) - died).toBeLessThan(12_000)
})
