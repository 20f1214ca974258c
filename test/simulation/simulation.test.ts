import { expect, test } from 'vitest'
import { textOf } from './history.ts'
import { simulate } from './simulate.ts'

const SEEDS = Array.from({ length: 200 }, (_, index) => index + 1)

test('P1 P2 P3 P5 P6 P8 P9 P17: whatever is lost, doubled, hung, paused or killed, no seed breaks a promise', async () => {
  const met: Record<string, number> = {}
  for (const seed of SEEDS) {
    const { faults, events } = await simulate(seed)
    const first = faults[0]
    if (first) expect.fail(`${first.what}; to see it: npm run simulate -- --seed ${seed}`)
    for (const { op } of events) met[op] = (met[op] ?? 0) + 1
  }
  // Seeds in which nothing happens prove nothing.
  expect(met.acknowledged).toBeGreaterThan(50_000)
  for (const op of ['refused', 'already', 'unknown', 'told', 'killed', 'paused', 'stopped'])
    expect(met[op], op).toBeGreaterThan(100)
}, 240_000)

test('the same seed gives the same history to the last byte, and another seed another', async () => {
  const [once, again, other] = [await simulate(7), await simulate(7), await simulate(8)]
  expect(textOf(again.events)).toBe(textOf(once.events))
  expect(textOf(other.events)).not.toBe(textOf(once.events))
})

test('a run that is cut short is the beginning of the longer one', async () => {
  const [short, long] = [await simulate(7, { steps: 1_000 }), await simulate(7, { steps: 2_000 })]
  const healing = short.events.findIndex(
    (event, index) => textOf([event]) !== textOf(long.events.slice(index, index + 1)),
  )
  expect(healing).toBeGreaterThan(50)
})
