import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { textOf } from './history.ts'
import { type Options, simulate } from './simulate.ts'

const SEEDS = Array.from({ length: Number(process.env.SIMULATION_SEEDS ?? 80) }, (_, index) => index + 1)
const STEPS = 8_000

test('P1 P2 P3 P5 P6 P8 P9 P17: no seed breaks a promise by loss, repetition, hangs, pauses or kills', async () => {
  const met: Record<string, number> = {}
  for (const seed of SEEDS) {
    const { faults, events } = await simulate(seed, { steps: STEPS })
    const first = faults[0]
    if (first) expect.fail(`${first.what}; to see it: npm run simulate -- --seed ${seed} --steps ${STEPS}`)
    for (const { op } of events) met[op] = (met[op] ?? 0) + 1
  }
  // The test proves nothing if the seeds cause no faults.
  expect(met.acknowledged).toBeGreaterThan(SEEDS.length * 100)
  for (const op of [
    'refused',
    'already',
    'unknown',
    'told',
    'killed',
    'paused',
    'stopped',
    'split',
    'stepped',
    'welcomed',
  ])
    expect(met[op], op).toBeGreaterThan(SEEDS.length / 6)
}, 600_000)

test('the same seed gives the same history to the last byte, and another seed another', async () => {
  const options = { steps: 4_000 }
  const [once, again, other] = [await digest(7, options), await digest(7, options), await digest(8, options)]
  expect(again).toBe(once)
  expect(other).not.toBe(once)
}, 600_000)

async function digest(seed: number, options: Options): Promise<string> {
  const { events } = await simulate(seed, options)
  return createHash('sha256').update(textOf(events)).digest('hex')
}
