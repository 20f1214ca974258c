import { mkdtempSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './files.ts'
import { type Need, projectNames, projectOf } from './projects.ts'
import { conclude, fail, pass, say, skip } from './report.ts'
import { check, type Item, run, runItems, stopAll } from './run.ts'
import { cleanUp, type Missing, makeFolder, provide } from './services.ts'
import { faultRun, isFirst, nameOf, type Part, parts } from './tiers.ts'

/** `npm test [-- --workers N] [FILE …]`, `npm run test:all [-- --changed]`. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    workers: { type: 'string' },
  },
})
// Tests wait about half of their time; more at once than this meet deadlines of the product on a busy machine.
process.env.PLAZA_SUITE_WORKERS = values.workers ?? `${Math.ceil(availableParallelism() * 1.5)}`
/** Parts run on Node 20, as servers must. */
const oldest = process.env.PLAZA_SUITE_OLDEST_NODE ?? process.execPath
process.env.NODE_COMPILE_CACHE ??= join(root, '.cache/compile')

let isStopping = false
// A terminal signals this process, and so does the one that started it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (!isStopping) void stop(signal)
  })

async function stop(signal: NodeJS.Signals): Promise<void> {
  isStopping = true
  stopAll(signal)
  await cleanUp()
  stopAll('SIGKILL')
  console.log(`\nStopped by ${signal}.`)
  process.exit(1)
}

const folder = mkdtempSync(join(makeFolder(), 'results-'))
try {
  if (positionals.length > 0) await runNamed(positionals.map((path) => relative(root, resolve(path))))
  else if (values.all) await runParts(values.changed ? await changedParts() : parts())
  else await runSuite()
} catch (error) {
  fail((error as Error).stack ?? `${error}`)
} finally {
  await cleanUp()
}
conclude()

/** The files that are named, in each project that has them. */
async function runNamed(paths: readonly string[]): Promise<void> {
  const items = projectNames.flatMap((project) =>
    projectOf(project)
      .files.filter((file) => paths.some((path) => isNamed(file, path)))
      .map((file): Item => ({ project, file, tags: 'all' })),
  )
  for (const path of paths) if (!items.some(({ file }) => isNamed(file, path))) fail(`No test file is named ${path}.`)
  if (items.length === 0) return
  const missing = await provide(needsOf(items))
  await runItems(process.execPath, folder, possible(items, missing))
}

function isNamed(file: string, path: string): boolean {
  return file === path || file.startsWith(`${path}/`)
}

/** What runs every time, and the parts whose folders have changed. */
async function runSuite(): Promise<void> {
  const items = everyTime()
  const stale = await changedParts()
  const needed = needsOf([...items, ...stale])
  const missing = await provide(new Set([...needed, 'anvil']))
  const outcomes = join(folder, 'outcomes')
  process.env.PLAZA_TEST_OUTCOMES = outcomes
  await Promise.all([checkSources(), runItems(process.execPath, folder, possible(items, missing))])
  await check('tsx', ['scripts/outcomes.ts', outcomes])
  delete process.env.PLAZA_TEST_OUTCOMES
  if (stale.length > 0) await runPartsWith(missing, stale)
}

/** The parts whose folders are not those with which they were last green, and why, in the output. */
async function changedParts(): Promise<readonly Part[]> {
  // What reads the whole source is loaded where it is needed, so that a file that is named begins at once.
  const { staleParts } = await import('./verified.ts')
  const stale = staleParts(parts())
  for (const line of reasonsOf(stale)) say(line)
  console.log(reasonsOf(stale).join('\n'))
  return stale.map(({ part }) => part)
}

async function runParts(all: readonly Part[]): Promise<void> {
  await runPartsWith(await provide(new Set([...needsOf(all), 'anvil'])), all)
}

async function runPartsWith(missing: Missing, all: readonly Part[]): Promise<void> {
  const { factsOf, recordGreen } = await import('./verified.ts')
  // What is committed while the parts run was not tested.
  const facts = new Map(all.map((part) => [part, factsOf(part)]))
  // A server of this Node meets servers of the newest one.
  process.env.OTHER_NODE_BINARY = process.execPath
  const items = inOrder(
    possible(
      all.filter((part) => part !== faultRun),
      missing,
    ),
  )
  const outcome = await runItems(oldest, folder, items)
  const passed = new Map<Part, number | null>(items.map((part) => [part, outcome.get(part) ?? null]))
  if (all.includes(faultRun) && (await runFaults(missing))) passed.set(faultRun, 1)
  const green = [...passed].flatMap(([part, count]) =>
    count === null ? [] : [{ part, passed: count, facts: facts.get(part) ?? null }],
  )
  const { lines, unknown } = recordGreen(green, parts())
  if (lines > 0) say(`test/verified.json has ${lines} new lines: commit it.`)
  if (unknown > 0) say(`${unknown} parts were green and are not noted: commit what they depend on, and run them again.`)
}

/** Each fault once, always in the same order: servers, stores and links of its own. Counts as one. */
async function runFaults(missing: Missing): Promise<boolean> {
  const why = missing.mongodb ?? missing.redis
  if (!why) return check('tsx', [faultRun.file, '--brief', '--seed', '1'], oldest)
  skip(`the faults: ${why}`)
  return false
}

/** What finds faults without running the code; the page and the programs are built once, before tests want them. */
async function checkSources(): Promise<void> {
  if ((await run(process.execPath, [join(root, 'scripts/build.mjs')])) === 0) pass()
  else fail('scripts/build.mjs could not build.')
  await check('biome', ['check', '.'])
  await check('tsc', ['--noEmit'])
}

function everyTime(): Item[] {
  return inOrder(
    projectNames.flatMap((project) =>
      projectOf(project)
        .files.filter((file) => isFirst(project, file))
        .map((file): Item => ({ project, file, tags: 'light' })),
    ),
  )
}

/** Files of one project follow one another, as they share a process; long ones come first. */
function inOrder<One extends Item>(items: readonly One[]): One[] {
  const sizeOf = ({ file }: One) => statSync(join(root, file)).size
  const rank = ({ project }: One) => projectNames.indexOf(project)
  return items.toSorted((one, other) => rank(one) - rank(other) || sizeOf(other) - sizeOf(one))
}

function needsOf(items: readonly Item[]): Set<Need> {
  return new Set(
    items.flatMap(({ project, file }) => [
      ...(projectOf(project).needs ?? []),
      ...(file === faultRun.file ? (['mongodb', 'redis'] as const) : []),
      ...(file.endsWith('/clients.test.ts') ? (['python client'] as const) : []),
    ]),
  )
}

/** Without those that need what is not there. */
function possible<One extends Item>(items: readonly One[], missing: Missing): One[] {
  const whyNot = ({ project }: One) =>
    projectOf(project)
      .needs?.map((need) => missing[need])
      .find(Boolean)
  for (const item of items) {
    const why = whyNot(item)
    if (why) skip(`${nameOf(item)}: ${why}`)
  }
  return items.filter((item) => !whyNot(item))
}

/** The parts that run as well, grouped by why. */
function reasonsOf(stale: readonly { part: Part; why: string }[]): string[] {
  const grouped = Map.groupBy(stale, ({ why }) => why)
  const all = parts().length
  if (stale.length === 0) return [`All ${all} parts of test/verified.json are as they were when they were last green.`]
  return [
    `${stale.length} of ${all} parts have changed since they were last green, and run as well:`,
    ...[...grouped].map(([why, those]) => `  ${summaryOf(those.map(({ part }) => part))}: ${why}`),
  ]
}

function summaryOf(some: readonly Part[]): string {
  if (some.length === 1) return some.map(nameOf).join()
  const counts = [...Map.groupBy(some, ({ project }) => project)].map(
    ([project, those]) => `${those.length} of ${project}`,
  )
  return counts.join(', ')
}
