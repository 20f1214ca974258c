import { afterEach, expect, test } from 'vitest'
import { GLOBAL } from '#server/log/index'
import { join, makes, moderate, projection, say, slow } from './chat.ts'
import { type Changes, clockOf, counting, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'

test('a node renews its leases before it reads `global`, so that no act is acknowledged without this node in between', async () => {
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
  // The node has seen a heartbeat of the other; the silence since then shows that the other is dead.
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  shift = 11_000
  beforeLease = async () => {
    expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 0 })
  }
  await expect(other.act(room, say('ada'))).rejects.toMatchObject({ code: 'SUSPENDED' })
  expect(beforeLease).toBeNull()
})

/** Two nodes on one clock that the test can advance; the second does not poll unless told to. */
function pair(changes: Changes = {}, ofBoth: Changes = {}) {
  nodes.hasHints = false
  let shift = 0
  const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
  const [one, other] = [
    nodes.start('one', { clock, ...ofBoth }),
    nodes.start('other', { clock, pollMilliseconds: 60_000, ...changes }),
  ]
  const standStill = (milliseconds: number) => {
    shift += milliseconds
  }
  return { one, other, standStill }
}

test('a node whose leases have run out answers nothing from memory', async () => {
  const { one, other, standStill } = pair()
  await other.act(room, join('ada'))
  expect(other.answerHere(GLOBAL, () => 'known')).toBe('known')
  standStill(11_000)
  await one.act(GLOBAL, moderate('suspend', 'ada'))
  expect(other.answerHere(GLOBAL, () => 'known')).toBeNull()
})

/** A connection to the store on which the answer to one read is delayed, and therefore outdated. */
function lateReads() {
  let isDue = false
  let asked = () => {}
  let answer = () => {}
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const reach: NonNullable<Changes['reach']> = async (name, work) => {
    const found = work()
    if (name !== 'read' || !isDue) return found
    isDue = false
    asked()
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return found
  }
  const next = () => {
    isDue = true
  }
  return { reach, isAsked, answer: () => answer(), next }
}

const suspended = { pendingNodes: 0, row: { type: 'suspend' } }

test('an insert that was sent before the leases expired is not sent again once they are renewed', async () => {
  let isDown = false
  let isStuck = false
  let renewing: Promise<unknown> = Promise.resolve()
  let goOn = () => {}
  const stuck = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const { one, other, standStill } = pair({
    pollMilliseconds: 50,
    reach: async (name, work) => {
      if (name === 'writeLeases') await renewing
      if (name === 'insert' && isDown) throw new Error('No answer.')
      if (name === 'byCid' || name === 'insert' || !isStuck) return work()
      isStuck = false
      await stuck
      return work()
    },
  })
  await other.act(room, join('ada'))
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  let renewed = () => {}
  renewing = new Promise<void>((resolve) => {
    renewed = resolve
  })
  await pause(60)
  isDown = isStuck = true
  const sent = other.act(room, say('ada')).catch(({ code }) => code)
  await pause(20)
  standStill(11_000)
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject(suspended)
  isDown = false
  renewed()
  await expect.poll(() => other.headHere(GLOBAL)?.seq).toBe(2)
  await pause(50)
  goOn()
  await pause(50)
  expect(nodes.memory.log(room)).toHaveLength(1)
  // A row of another node in its place decides its outcome.
  await one.act(room, join('bo'))
  expect(await sent).toBe('SUSPENDED')
})

test('a lease counts from before it was written, however long the read of `global` took', async () => {
  const late = lateReads()
  const { one, other, standStill } = pair({ reach: late.reach })
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  standStill(5_000)
  late.next()
  const sent = other.act(room, say('ada'))
  await late.isAsked
  await one.act(GLOBAL, moderate('suspend', 'bo'))
  standStill(11_000)
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject(suspended)
  late.answer()
  await expect(sent).rejects.toMatchObject({ code: 'SUSPENDED' })
})

test('the first lease counts from before it was written, too', async () => {
  const late = lateReads()
  const everywhere: Partial<Changes> = {
    projection: { ...projection, always: () => ['slow'], holdsEverywhere: (type) => type === 'slow' },
  }
  const { one, other, standStill } = pair({ ...everywhere, reach: late.reach }, everywhere)
  await one.act(GLOBAL, slow(0))
  late.next()
  const isSlow = other.act(room, {
    sender: 'ada',
    makes: makes('none'),
    judge: (view) => ({ already: view.global.get('slow') }),
  })
  await late.isAsked
  await one.act(GLOBAL, slow(0))
  standStill(11_000)
  expect(await one.act(GLOBAL, slow(1))).toMatchObject({ pendingNodes: 0 })
  late.answer()
  expect(await isSlow).toMatchObject({ already: 1 })
})

test('a node acts for four seconds after a renewal, so that its last insert ends before others stop waiting', async () => {
  const renewals = counting('writeLeases')
  const { other, standStill } = pair({ reach: renewals.reach })
  await other.act(room, join('ada'))
  await pause(20)
  for (const [milliseconds, more] of [
    [3_500, 0],
    [600, 1],
  ] as const) {
    const before = renewals.count
    standStill(milliseconds)
    await other.act(room, say('ada'))
    expect(renewals.count - before).toBe(more)
  }
})

test('a node that cannot read the leases reports a pending node', async () => {
  let isAway = false
  const one = nodes.start('one', {
    clock: clockOf(10),
    reach: async (name, work) => {
      if (name === 'leasesOf' && isAway) throw new Error('Away.')
      return work()
    },
  })
  expect(await one.act(GLOBAL, moderate('suspend', 'bo'))).toMatchObject({ pendingNodes: 0 })
  isAway = true
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 1 })
})

test('a node with an undecided older insert of its own reports itself as pending', async () => {
  const store = nodes.storeOf(false)
  let decide = () => {}
  const decided = new Promise<void>((resolve) => {
    decide = resolve
  })
  const one = nodes.start('one', {
    store: {
      ...store,
      insert: async (rows) => {
        if (rows.some(({ type }) => type === 'message')) await decided
        return store.insert(rows)
      },
    },
  })
  await one.act(room, join('ada'))
  const sent = one.act(room, say('ada'))
  await pause(20)
  const outcome = one.act(GLOBAL, moderate('suspend', 'ada'))
  expect(await outcome).toMatchObject({ pendingNodes: 1 })
  decide()
  await sent
  expect(await one.act(GLOBAL, moderate('suspend', 'bo'))).toMatchObject({ pendingNodes: 0 })
})

test('a listener of an empty room reads it only after the lease is written', async () => {
  let isDue = false
  const { one, other } = pair({
    reach: async (name, work) => {
      const isNow = name === 'writeLeases' && isDue
      if (isNow) isDue = false
      if (isNow) await one.act(room, join('ada'))
      return work()
    },
  })
  await other.head(room)
  isDue = true
  await other.hold(room)
  expect(other.headHere(room)?.seq).toBe(1)
})
