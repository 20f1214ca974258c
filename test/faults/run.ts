import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { inspect, parseArgs } from 'node:util'
import { build, programs } from '#test/support/programs'
import { provisionOtherNode } from '../../scripts/test-servers.mjs'
import { type Cluster, openAlone, openPair } from './cluster.ts'
import { smallDisk } from './disk.ts'
import { aloneFaults, type Fault, pairFaults } from './faults.ts'
import { type Outcome, runPart } from './part.ts'
import { type Random, seeded } from './random.ts'
import { print, reportOf, type Skipped } from './report.ts'
import { stepsTo } from './steps.ts'

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    brief: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    json: { type: 'string' },
    history: { type: 'string' },
    only: { type: 'string' },
  },
})
const seed = options.seed === undefined ? randomInt(2 ** 31) : Number(options.seed)
const only = options.only?.split(',')
const closeMilliseconds = 60_000
const least = { acked: 5_000, flips: 200, answers: 30, charges: 20, uploads: 60, entries: 60 }
const profiles = {
  /** Injects each fault once, in about a minute. */
  brief: {
    times: 1,
    pairSeconds: 20,
    aloneSeconds: 10,
    least: { acked: 1_000, injections: 1, flips: 75, answers: 10, charges: 5, uploads: 20, entries: 20 },
  },
  usual: { times: 3, pairSeconds: 40, aloneSeconds: 0, least: { ...least, injections: 3 } },
  long: { times: 3, pairSeconds: 480, aloneSeconds: 120, least: { ...least, injections: 3 } },
}
const name = options.long ? 'long' : options.brief ? 'brief' : 'usual'
const profile = profiles[name]

const skipped: Skipped[] = []
const otherNode = provisionOtherNode()
if ('missing' in otherNode)
  skipped.push({ id: 'F28', what: 'nodes of different versions of Node', reason: otherNode.missing })

if (smallDisk(1) === null) skipped.push({ id: 'F19', what: 'fill a disk', reason: 'this user may not mount one' })

const open: Cluster[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void closeAll().finally(() => process.exit(1)))

/** What no step waits for: a client of the run that cannot read what it is told. */
const unexpected: string[] = []
for (const event of ['unhandledRejection', 'uncaughtException'])
  process.on(event, (error: unknown) => void unexpected.push(`the run: ${inspect(error)}`))

console.log(`Seed ${seed}. Again: npm run test:faults -- --seed ${seed}${name === 'usual' ? '' : ` --${name}`}`)
const code = await run(seeded(seed)).catch((error: unknown) => {
  console.error(error)
  return 1
})
await stepsTo([])('The end', closeMilliseconds, closeAll)
process.exit(code)

async function run(random: Random): Promise<number> {
  const parts = [
    {
      name: 'Two nodes',
      start: openPair,
      faults: chosen(pairFaults),
      seconds: profile.pairSeconds,
      acked: only ? 0 : profile.least.acked,
    },
    { name: 'One node', start: openAlone, faults: chosen(aloneFaults), seconds: profile.aloneSeconds, acked: 0 },
  ]
  build()
  const running = parts
    .filter(({ faults }) => faults.length > 0)
    .map(({ name, start, faults, seconds, acked }): Promise<Outcome> => {
      const opened = async () => {
        const cluster = await start(programs.main)
        open.push(cluster)
        console.log(`${cluster.nodes.length} of the built server on ${cluster.storeName}`)
        return cluster
      }
      const plan = { faults, times: profile.times, seconds, acked }
      return runPart({ name, start: opened, plan, random: random.fork(), isLong: options.long })
    })
  const outcomes = await Promise.all(running)
  const faults = parts.flatMap((part) => part.faults)
  const isWhole = only === undefined
  const report = reportOf(seed, outcomes, { faults, skipped, unexpected, least: profile.least, isWhole })
  print(report, outcomes)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  if (options.history) writeFileSync(options.history, historyOf(outcomes))
  return report.failures.length === 0 ? 0 : 1
}

function chosen(faults: readonly Fault[]): readonly Fault[] {
  const possible = faults.filter((fault) => !skipped.some(({ id }) => id === fault.id))
  return only ? possible.filter(({ id }) => only.includes(id)) : possible
}

function historyOf(outcomes: readonly Outcome[]): string {
  return outcomes
    .flatMap(({ history }) => history.entries)
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('')
}

async function closeAll(): Promise<void> {
  for (const cluster of open.splice(0)) await cluster.close()
}
