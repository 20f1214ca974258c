import { afterEach, describe, expect, test } from 'vitest'
import { GLOBAL } from '#server/log/index'
import { join, moderate, say } from './chat.ts'
import { memoryStore } from './memory-store.ts'
import { clockOf, counting, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const log = () => nodes.memory.log(room)
const deaf = { pollMilliseconds: 60_000 }

test('P4: an insert that lost the race for its seq is stored before later messages of its sender', async () => {
  nodes.hasHints = false
  let isSlow = false
  const one = nodes.start('one')
  const other = nodes.start('other', {
    ...deaf,
    reach: async (name, work) => {
      if (name === 'insert' && isSlow) await pause(30)
      return work()
    },
  })
  await other.act(room, join('ada'))
  await one.act(room, join('bo'))
  isSlow = true
  const sends = [other.act(room, say('ada', 'first'))]
  await pause(10)
  sends.push(other.act(room, say('ada', 'second')))
  await Promise.all(sends)
  expect(log().map(({ cid }) => cid)).toMatchObject({ 2: 'first', 3: 'second' })
})

test('an act whose insert has an unknown outcome is not refused while the insert may still succeed', async () => {
  nodes.hasHints = false
  let shift = 0
  let isDown = false
  let isLate = false
  let suspended: Promise<unknown> = Promise.resolve()
  const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
  const one = nodes.start('one', { clock, ...deaf })
  const other = nodes.start('other', {
    clock,
    ...deaf,
    reach: async (name, work) => {
      if (name === 'writeLeases') await suspended
      if (name !== 'insert' || !isDown) return work()
      if (!isLate) setTimeout(work, 300)
      isLate = true
      throw new Error('No answer.')
    },
  })
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  // The node has seen a heartbeat of the other; the silence since then shows that the other is dead.
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  isDown = true
  const sent = other.act(room, say('ada', 'late'))
  await pause(20)
  shift = 11_000
  suspended = one.act(GLOBAL, moderate('suspend', 'ada'))
  expect(await suspended).toMatchObject({ pendingNodes: 0 })
  expect(log()).toHaveLength(2)
  expect(await sent).toMatchObject({ row: { cid: 'late', seq: 3 } })
  expect(log()).toHaveLength(3)
})

/** A node whose writes of heads can be slowed down. */
function slowHeads() {
  const slow = { isOn: false }
  const one = nodes.start('one', {
    reach: async (name, work) => {
      if (name === 'raiseHeads' && slow.isOn) await pause(60)
      return work()
    },
  })
  const head = (key = room) => nodes.memory.heads.get(key)?.seq ?? 0
  return { one, slow, head }
}

test('with another node alive, a message is acknowledged after the head of its room is raised', async () => {
  const { one, slow, head } = slowHeads()
  await nodes.start('other').hold(GLOBAL)
  await one.act(room, join('ada'))
  await pause(200)
  slow.isOn = true
  expect(await one.act(room, say('ada', 'k')).then(() => head())).toBe(2)
})

test('with no other node alive, a message is acknowledged before the head of its room is raised', async () => {
  const { one, slow, head } = slowHeads()
  await one.act(room, join('ada'))
  slow.isOn = true
  expect(await one.act(room, say('ada', 'k')).then(() => head())).toBe(1)
  await expect.poll(() => head(), { timeout: 2_000 }).toBe(2)
})

describe('a head that could not be raised', () => {
  /** Nodes whose next writes of heads fail, as many as `failing` says. */
  function failingHeads() {
    const failing = { times: 0 }
    const reach = async <T>(name: string, work: () => T): Promise<T> => {
      if (name === 'raiseHeads' && failing.times-- > 0) throw new Error('The store does not answer.')
      return work()
    }
    return { reach, failing, head: (key = room) => nodes.memory.heads.get(key)?.seq ?? 0 }
  }

  test('is tried again before a message is acknowledged, with another node alive', async () => {
    const { reach, failing, head } = failingHeads()
    const one = nodes.start('one', { reach })
    await nodes.start('other').hold(GLOBAL)
    await one.act(room, join('ada'))
    await pause(200)
    failing.times = 3
    expect(await one.act(room, say('ada', 'k')).then(() => head())).toBe(2)
    expect(failing.times).toBeLessThanOrEqual(0)
  })

  test('is tried again without another act, where nobody waits for it', { timeout: 10_000 }, async () => {
    const { reach, failing, head } = failingHeads()
    const one = nodes.start('one', { reach, ...deaf })
    await one.act(room, join('ada'))
    // Longer than the three seconds for which one act would wait.
    failing.times = 20
    await one.act(room, say('ada', 'k'))
    await expect.poll(() => head(), { timeout: 8_000 }).toBe(2)
  })
})

test('a head that has moved while others were written is raised after them', async () => {
  const { one, slow, head } = slowHeads()
  await one.act(room, join('ada'))
  await one.act('channel:two', join('ada'))
  slow.isOn = true
  await one.act(room, say('ada', 'k'))
  await pause(20)
  await one.act('channel:two', say('ada', 'k'))
  await expect.poll(() => [head(), head('channel:two')], { timeout: 2_000 }).toEqual([2, 2])
  await one.act(room, say('ada', 'later'))
  await expect.poll(() => head(), { timeout: 2_000 }).toBe(3)
})

test('a head that was written before a row does not count as told of it', async () => {
  const slow = { heads: false, records: false }
  const one = nodes.start('one', {
    reach: async (name, work) => {
      if (name !== 'raiseHeads' || !slow.heads) return work()
      const written = work()
      await pause(60)
      return written
    },
    records: {
      load: async (key, facts) => nodes.kept.load(key, facts),
      save: async (key, saved) => {
        if (slow.records) await pause(150)
        nodes.kept.save(key, saved)
      },
    },
  })
  await nodes.start('other').hold(GLOBAL)
  await one.act(room, join('ada'))
  await pause(200)
  slow.heads = true
  const said = one.act(room, say('ada', 'k'))
  await pause(20)
  slow.records = true
  expect(await one.act(room, join('bo')).then(() => nodes.memory.heads.get(room)?.seq)).toBe(3)
  await said
})

test('a room that is opened again knows its head: with no other node alive, no answer waits for it', async () => {
  const before = nodes.start('before')
  await before.act(room, join('ada'))
  await before.close()
  const { one, slow, head } = slowHeads()
  await one.head(room)
  slow.isOn = true
  expect(await one.act(room, say('ada', 'k')).then(() => head())).toBe(1)
})

test('the first row of a room is acknowledged after its head is raised, and so is a repeat of it', async () => {
  const { one, slow, head } = slowHeads()
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  slow.isOn = true
  const first = { ...join('ada'), cid: 'k' }
  const heads = await Promise.all([
    one.act(room, first).then(() => head()),
    pause(10).then(() => one.act(room, first).then(() => head())),
  ])
  expect(heads).toEqual([1, 1])
})

test('an act in `global` is acknowledged after the head is raised, and so is a repeat of it', async () => {
  const { one, slow, head } = slowHeads()
  await one.act(room, join('ada'))
  slow.isOn = true
  const ban = { ...moderate('ban', 'ada'), cid: 'k' }
  const heads = await Promise.all([
    one.act(room, ban).then(() => head()),
    pause(10).then(() => one.act(room, ban).then(() => head())),
  ])
  expect(heads).toEqual([2, 2])
})

test('a node without others raises heads at most once a second, and when it stops', async () => {
  const raised = counting('raiseHeads')
  const one = nodes.alone({ reach: raised.reach })
  await one.act(room, join('ada'))
  const began = performance.now()
  for (let at = 0; at < 20; at++) await one.act(room, say('ada')).then(() => pause(15))
  expect(raised.count).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 1_000))
  await one.close()
  expect(nodes.memory.heads.get(room)?.seq).toBe(21)
})

test('after a partial insert, only the missing rows are inserted again', async () => {
  let isTorn = false
  const whole = memoryStore(nodes.memory, false)
  const one = nodes.start('one', {
    store: {
      ...whole,
      async insert(rows) {
        if (!isTorn) return whole.insert(rows)
        isTorn = false
        await whole.insert(rows.slice(0, 1))
        throw new Error('The database stopped half-way.')
      },
    },
  })
  await one.act(room, join('ada'))
  isTorn = true
  const acts = await Promise.all(['a', 'b', 'c'].map((cid) => one.act(room, say('ada', cid))))
  expect(acts.map(({ row }) => row?.seq)).toEqual([2, 3, 4])
  expect(log().map(({ cid }) => cid)).toMatchObject({ 1: 'a', 2: 'b', 3: 'c' })
})

test('P2: a repeated key that the node knows is answered without another insert, in the same turn and later', async () => {
  const inserts = counting('insert')
  const one = nodes.start('one', inserts)
  await one.act(room, join('ada'))
  inserts.count = 0
  const repeats = () => Promise.all(['k', 'k', 'l', 'k'].map((cid) => one.act(room, say('ada', cid))))
  const seqs = (await repeats()).map(({ row }) => row?.seq)
  expect((await repeats()).map(({ row }) => row?.seq)).toEqual(seqs)
  expect([seqs, inserts.count, log().length]).toEqual([[2, 2, 3, 2], 1, 3])
})
