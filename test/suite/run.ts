import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './files.ts'
import { type ProjectName, projectOf } from './projects.ts'
import { fail, markUnsteady, noteCost, pass, skip } from './report.ts'
import { hasHeavy } from './tiers.ts'

/** A file to run, as `vitest.mjs` reads it. */
export interface Item {
  project: ProjectName
  file: string
  tags: 'light' | 'heavy' | 'all'
}

interface Test {
  title: string
  state: 'passed' | 'failed' | 'skipped' | 'pending'
  isHeavy?: boolean
  why?: string
}
interface Results {
  files: readonly { project: ProjectName; file: string; tests: readonly Test[] }[]
  errors: readonly string[]
}

const running = new Set<ChildProcess>()

/** Ends each program with all that it has started. */
export function stopAll(signal: NodeJS.Signals): void {
  for (const { pid, exitCode, signalCode } of running)
    if (pid && exitCode === null && signalCode === null) process.kill(-pid, signal)
}

const tools = {
  biome: '@biomejs/biome/bin/biome',
  tsc: 'typescript/bin/tsc',
  tsx: 'tsx/dist/cli.mjs',
}

/** A tool that finds no fault counts as one test that passed. */
export async function check(
  tool: keyof typeof tools,
  options: readonly string[],
  node = process.execPath,
): Promise<boolean> {
  const code = await run(node, [join(root, 'node_modules', tools[tool]), ...options])
  if (code === 0) pass()
  else fail(`${tool} ${options.join(' ')} found faults.`)
  return code === 0
}

/** Runs a program to its end and answers with its exit code. */
export function run(node: string, options: readonly string[], variables: Record<string, string> = {}): Promise<number> {
  const env = { ...process.env, ...variables }
  return new Promise((resolve) => {
    const child = spawn(node, options, { cwd: root, stdio: 'inherit', env, detached: true })
    running.add(child)
    child.once('close', (code) => {
      running.delete(child)
      resolve(code ?? 1)
    })
  })
}

/** How many tests of an item passed; null where one failed, was skipped, or passed only when it was run again. */
export type Outcome = ReadonlyMap<Item, number | null>

/** Runs the items in one queue; what fails there is run once more, alone. */
export async function runItems(node: string, folder: string, items: readonly Item[]): Promise<Outcome> {
  const outcome = new Map<Item, number | null>()
  const results = await runOnce(node, folder, items)
  if (!results) return outcome
  for (const item of items) outcome.set(item, await judge(node, folder, item, results))
  // An error outside of any test names no file: no part of this run is known to be green.
  return results.errors.length > 0 ? new Map() : outcome
}

async function judge(node: string, folder: string, item: Item, results: Results): Promise<number | null> {
  const tests = testsOf(item, results)
  if (!tests) {
    fail(`${labelOf(item)}: it was not run, or has no tests.`)
    return null
  }
  const failed = tests.filter(({ state }) => state === 'failed')
  const passed = tests.filter(({ state }) => state === 'passed').length
  const skipped = tests.length - failed.length - passed
  pass(passed)
  for (const { title, state } of tests)
    if (state === 'skipped' || state === 'pending') skip(`by the test itself: ${labelOf(item)}: ${title}`)
  if (failed.length === 0) return skipped > 0 ? null : passed
  if (mayRunAgain(item.file)) await runAgain(node, folder, item, failed)
  else for (const test of failed) failTest(item, test)
  return null
}

/** A test that passes now is unsteady; one that does not pass now has failed. */
async function runAgain(node: string, folder: string, item: Item, failed: readonly Test[]): Promise<void> {
  console.log(`\nOnce more, alone: ${item.file} (${item.project})`)
  const again = await runOnce(node, folder, [item])
  const tests = (again && testsOf(item, again)) ?? []
  for (const test of failed) {
    const passes = tests.some(({ title, state }) => title === test.title && state === 'passed')
    if (passes) markUnsteady(`${labelOf(item)}: ${test.title}`, test.why ?? '')
    else failTest(item, test)
  }
  for (const test of tests)
    if (test.state === 'failed' && !failed.some(({ title }) => title === test.title)) failTest(item, test)
}

/** In what these are about a race is a fault, however seldom it is met. */
const mayRunAgain = (file: string) => !/^test\/(simulation|store|hostile|faults)\/|\.kill\.test\.ts$/.test(file)

/** The tests that this item was to run: none where all tests of its file are of the other tier. */
function testsOf({ project, file, tags }: Item, { files }: Results): readonly Test[] | undefined {
  const own = files.find((one) => one.project === project && one.file === file && one.tests.length > 0)
  if (tags === 'light' && !hasHeavy(file) && own?.tests.some(({ isHeavy }) => isHeavy))
    fail(`${file}: its heavy tests are in no part. Import \`heavy\` from '#test/support/heavy'.`)
  return own?.tests.filter(
    ({ state, isHeavy }) => state !== 'skipped' || tags === 'all' || isHeavy === (tags === 'heavy'),
  )
}

const labelOf = ({ project, file }: Item) => `(${project}) ${file}`

function failTest(item: Item, { title, why }: Test): void {
  fail(`${labelOf(item)}: ${title}\n${why}`)
}

async function runOnce(node: string, folder: string, items: readonly Item[]): Promise<Results | null> {
  const [plan = '', results = '', costs = ''] = ['plan', 'results', 'costs'].map((kind) =>
    join(folder, `${randomUUID()}.${kind}`),
  )
  writeFileSync(plan, JSON.stringify(items.map((item) => ({ ...item, weight: weightOf(item) }))))
  const variables = { PLAZA_TEST_COSTS: costs }
  const code = await run(node, [join(root, 'test/suite/vitest.mjs'), plan, results], variables)
  for (const { project, file, seconds } of costsIn(costs)) noteCost(project, file, seconds)
  const found = readJson(results)
  if (!found) fail(`vitest ended with ${code} and left no results.`)
  for (const error of found?.errors ?? []) fail(`outside of any test: ${error}`)
  return found
}

/** A guess of what a file costs: a long one mostly costs more. */
const weightOf = ({ project, file }: Item) => statSync(join(root, file)).size * (projectOf(project).weight ?? 1)

function readJson(path: string): Results | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Results
  } catch {
    return null
  }
}

/** What `test/support/cost.ts` has noted of each file: seconds, project, path. */
function costsIn(path: string): { project: string; file: string; seconds: number }[] {
  if (!statSync(path, { throwIfNoEntry: false })) return []
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [seconds = '0', project = '', file = ''] = line.split('\t')
      return { seconds: Number(seconds), project, file: file.slice(root.length) }
    })
}
