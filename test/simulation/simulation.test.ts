import { expect, test } from 'vitest'
import type { Rule } from '#server/log/types'
import { type Options, simulate } from './simulate.ts'

const SEEDS = Array.from({ length: 30 }, (_, index) => index + 1)

/** What a seed runs under: three to five nodes, every third run without hints, every fourth on a bad database. */
function weather(seed: number): Options {
  return {
    nodes: 3 + (seed % 3),
    seconds: 4,
    hints: seed % 3 !== 0,
    ...(seed % 4 === 0 ? { hang: 0.1, loss: 0.03 } : {}),
  }
}

test('whatever is lost, doubled, hung, paused or killed, the log keeps its promises', async () => {
  let [acknowledged, shown] = [0, 0]
  for (const seed of SEEDS) {
    const run = await simulate(seed, weather(seed))
    expect(run.faults, `seed ${seed}`).toEqual({})
    acknowledged += run.acknowledged
    shown += run.shown
  }
  // A run in which nothing happened proves nothing.
  expect(acknowledged).toBeGreaterThan(5_000)
  expect(shown).toBeGreaterThan(20_000)
}, 120_000)

const CAUGHT: [Rule, string][] = [
  ['judge on the draft', 'edited twice from one version'],
  ['refuse on a fresh view', 'a stale refusal'],
  ['write records before the ack', 'acknowledged before its record was written'],
  ['wait for every node', 'a suspended one wrote after the ack'],
  ['time never runs back', 'time ran back'],
]

test.each(CAUGHT)(
  'the checker notices a log without the rule "%s"',
  async (without, fault) => {
    const found: string[] = []
    for (const seed of [16, 17, 19]) {
      const { faults } = await simulate(seed, { ...weather(1), seconds: 6, without })
      found.push(...Object.keys(faults))
    }
    expect(found.join(', ')).toContain(fault)
  },
  60_000,
)
