import { afterEach, expect, test } from 'vitest'
import { GLOBAL } from '#server/log/index'
import { join, moderate, say } from './chat.ts'
import { clockOf, Nodes, pause } from './nodes.ts'

let nodes = new Nodes()
afterEach(async () => {
  await nodes.stop()
  nodes = new Nodes()
})

const room = 'channel:one'
const sent = () => nodes.memory.log(room).filter(({ type }) => type === 'message').length

/** A clock whose time of day steps, while its monotonic time continues. */
function stepping(speed = 1) {
  const steady = clockOf(speed)
  let step = 0
  return {
    clock: { ...steady, now: () => steady.now() + step },
    stepBy: (milliseconds: number) => {
      step += milliseconds
    },
  }
}

test.each([
  ['the one that suspends goes forward', [10_000, 0]],
  ['the one that suspends goes back', [-10_000, 0]],
  ['the one that writes goes forward', [0, 10_000]],
  ['the one that writes goes back', [0, -10_000]],
  ['both go forward', [10_000, 10_000]],
  ['they part', [10_000, -10_000]],
  ['both go back by a day', [-86_400_000, -86_400_000]],
] as const)(
  'M45: a suspended account writes nothing once the suspension is acknowledged, though the clock of %s',
  async (_what, steps) => {
    nodes.hasHints = false
    const [ours, theirs] = [stepping(), stepping()]
    const one = nodes.start('one', { clock: ours.clock })
    const other = nodes.start('other', { clock: theirs.clock, pollMilliseconds: 300 })
    await other.act(room, join('ada'))
    await other.act(room, say('ada'))
    await one.head(GLOBAL)
    await pause(400)
    ours.stepBy(steps[0])
    theirs.stepBy(steps[1])
    const outcome = await one.act(GLOBAL, moderate('suspend', 'ada'))
    expect(outcome).toMatchObject({ pendingNodes: 0 })
    const before = sent()
    await expect(other.act(room, say('ada'))).rejects.toMatchObject({ code: 'SUSPENDED' })
    expect(sent()).toBe(before)
  },
)

test('P17 M45: no act waits longer when the clock steps back by an hour', async () => {
  const { clock, stepBy } = stepping(20)
  let isAway = false
  const node = nodes.alone({
    clock,
    reach: async (_, work) => {
      if (isAway) throw new Error('Away.')
      return work()
    },
  })
  await node.act(room, join('ada'))
  isAway = true
  const waiting = node.act(room, say('ada'))
  stepBy(-3_600_000)
  await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  isAway = false
  await node.act(room, say('ada'))
})

test('M45: acts of moderation wait for a dead node until its last insert can no longer be carried out', async () => {
  nodes.hasHints = false
  const clock = clockOf(10)
  let isDead = false
  let land: () => void = () => {}
  const one = nodes.start('one', { clock, pollMilliseconds: 500 })
  const other = nodes.start('other', {
    clock,
    pollMilliseconds: 500,
    reach: async (name, work) => {
      if (!isDead) return work()
      if (name === 'insert')
        land = () => {
          work()
        }
      return new Promise(() => {})
    },
  })
  await other.act(room, join('ada'))
  await other.act(room, say('ada'))
  await one.head(GLOBAL)
  await pause(100)
  isDead = true
  void other.act(room, say('ada')).catch(() => {})
  // Its lease has expired, and its last insert may still reach the store.
  await pause(650)
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 1 })
  land()
  expect(sent()).toBe(2)
  await pause(500)
  expect(await one.act(GLOBAL, moderate('suspend', 'bo'))).toMatchObject({ pendingNodes: 0 })
})

test('M45: no act waits for a node that has stopped', async () => {
  nodes.hasHints = false
  const [one, other] = [nodes.start('one'), nodes.start('other')]
  await other.act(room, join('ada'))
  await other.close()
  const began = performance.now()
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 0 })
  expect(performance.now() - began).toBeLessThan(900)
})

test('M45: a process that was paused does not take other nodes for dead', async () => {
  nodes.hasHints = false
  let shift = 0
  const clock = { ...clockOf(1), elapsed: () => performance.now() + shift }
  const one = nodes.start('one', { clock })
  const other = nodes.start('other', { pollMilliseconds: 300 })
  await other.act(room, join('ada'))
  await one.head(GLOBAL)
  await pause(100)
  shift = 30_000
  await pause(400)
  expect(await one.act(GLOBAL, moderate('suspend', 'ada'))).toMatchObject({ pendingNodes: 0 })
  await expect(other.act(room, say('ada'))).rejects.toMatchObject({ code: 'SUSPENDED' })
})

test('N71: how long a fact has been so is told by what only rises, and from its loading on after a restart', async () => {
  const { clock, stepBy } = stepping()
  let passed = 0
  const steady = { ...clock, elapsed: () => clock.elapsed() + passed }
  const ageOn = (node: ReturnType<Nodes['alone']>) =>
    node.ask(room, (view) => view.get('member:ada') && view.ageOf('member:ada'))
  const node = nodes.alone({ clock: steady })
  await node.act(room, join('ada'))
  stepBy(-3_600_000)
  passed = 60_000
  expect(await ageOn(node)).toBeGreaterThanOrEqual(60_000)
  await node.close()
  const again = nodes.alone({ clock: steady })
  expect(await ageOn(again)).toBeLessThan(30_000)
  passed = 120_000
  expect(await ageOn(again)).toBeGreaterThanOrEqual(60_000)
})
