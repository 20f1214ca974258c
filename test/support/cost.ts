import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, expect } from 'vitest'
import { refuseWarnings } from './warnings.ts'

const ticksASecond = 100
const place = process.env.PLAZA_TEST_COSTS
/** What the files before this one have cost this process. */
const known = globalThis as { spentBefore?: number }

// A warning of Node's fails a test.
afterEach(refuseWarnings)
afterAll(refuseWarnings)

/** Records the processor seconds of each test file: its own, and those of its finished child processes. */
afterAll(() => {
  const spent = spentSeconds()
  const seconds = spent - (known.spentBefore ?? 0)
  known.spentBefore = spent
  if (place)
    appendFileSync(
      place,
      `${[seconds.toFixed(2), process.env.PLAZA_TEST_PROJECT, expect.getState().testPath].join('\t')}\n`,
    )
})

function spentSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000 + childSeconds()
}

/** Linux alone tells it. */
function childSeconds(): number {
  try {
    const [, ...fields] = readFileSync('/proc/self/stat', 'utf8').split(') ')
    const [user, system] = fields.join(') ').split(' ').slice(13, 15)
    return (Number(user) + Number(system)) / ticksASecond
  } catch {
    return 0
  }
}
