import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  findChromium,
  placeFor,
  provisionAnvil,
  provisionOtherNode,
  provisionPythonClient,
  startMongo,
  startRedis,
} from './test-servers.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const gibibyte = 2 ** 30
const directory = mkdtempSync(join(placeFor(4 * gibibyte), 'plaza-test-'))
process.env.TMPDIR = directory
const folder = mkdtempSync(join(directory, 'results-'))
const tally = { passed: 0, failed: 0, skipped: 0 }
const report = []
/** The processor time of each file, and the files that failed and may be tried once more. */
const costs = []
const failedFiles = []
const unsteady = []
const MOST_UNSTEADY = 5
const WHOLE_FILE = 'the file itself'
const MOST_COSTLY = 20
const cleanups = [() => rmSync(directory, { recursive: true, force: true })]
const running = new Set()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    const stop = () => {
      for (const child of running) child.kill(signal)
    }
    process.once('exit', stop)
    stop()
    await cleanUp()
    process.exit(1)
  })
}

try {
  await check('biome', ['check', '.'])
  await check('tsc', ['--noEmit'])
  await suite()
} catch (error) {
  fail(error.stack)
} finally {
  await cleanUp()
}
if (tally.passed === 0) fail('No check and no test ran.')
conclude()

async function suite() {
  process.env.PLAZA_TEST_DATABASES = `plaza_test_${process.pid}_`
  const chromium = findChromium()
  const mongo = await startMongo()
  const redis = await startRedis()
  for (const { stop, died } of [mongo, redis]) {
    if (stop) cleanups.push(stop)
    died?.then((how) => how && fail(how))
  }
  const chain = provisionAnvil()
  const otherNode = provisionOtherNode()
  const python = provisionPythonClient()
  for (const { missing } of [chain, otherNode, python]) if (missing && process.env.CI) fail(missing)
  report.push(`Chain: ${chain.name ?? chain.missing}`, `Another Node: ${otherNode.name ?? otherNode.missing}`)
  report.push(`Client for Python: ${python.name ?? python.missing}`)
  report.push(`MongoDB: ${mongo.name ?? 'none'}`, `Redis: ${redis.name ?? 'none'}`, `Chromium: ${chromium ?? 'none'}`)

  const outcomes = join(folder, 'outcomes')
  process.env.PLAZA_TEST_OUTCOMES = outcomes
  await Promise.all([
    onEmbedded(mongo, outcomes),
    onMongo(mongo)
      .then(() => onProcesses(mongo))
      .then(() => vitest(['kill', 'slow'], mongo.uri))
      .then(() => underFaults(mongo, redis)),
    onMongoAndRedis(mongo, redis).then(() => inBrowser(chromium)),
  ])
  for (const file of failedFiles) await onceMore(file)
  if (unsteady.length > MOST_UNSTEADY) fail(`${unsteady.length} tests are unsteady; ${MOST_UNSTEADY} are the most.`)
}

/** What needs no server of its own, and the stores themselves. */
async function onEmbedded(mongo, outcomes) {
  const ranWhole = await vitest(['laws', 'merge', 'unit', 'embedded', 'hostile', 'simulation', 'faults'])
  if (ranWhole) await check('tsx', ['scripts/outcomes.ts', outcomes])
  await vitest(['store'], mongo.uri)
}

async function onMongo(mongo) {
  if (!mongo.uri) return skip(['mongodb', 'two-nodes'], mongo.missing)
  await vitest(['mongodb', 'two-nodes'], mongo.uri)
}

/** Whole servers, started and ended from outside. */
async function onProcesses(mongo) {
  if (!mongo.uri) return skip(['nodes'], mongo.missing)
  await vitest(['nodes'], mongo.uri)
}

async function inBrowser(chromium) {
  if (!chromium) return skip(['browser'], 'no Chromium found; set CHROMIUM_BINARY')
  await vitest(['browser'])
}

async function onMongoAndRedis(mongo, redis) {
  if (!mongo.uri || !redis.url) return skip(['two-nodes-redis', 'redis'], mongo.missing ?? redis.missing)
  await vitest(['two-nodes-redis', 'redis'], mongo.uri, redis.url)
}

/** Each fault once, always in the same order: servers, stores and links of its own. Counts as one. */
async function underFaults(mongo, redis) {
  const missing = mongo.missing ?? redis.missing
  if (!missing) return check('tsx', ['test/faults/run.ts', '--brief', '--seed', '1'])
  if (process.env.CI) return fail(`The faults could not be injected: ${missing}`)
  tally.skipped += 1
  report.push(`Skipped: the faults: ${missing}`)
}

/** Each counts as one. */
async function check(tool, options) {
  console.log(`\n${tool} ${options.join(' ')}`)
  if ((await run(tool, options)) === 0) tally.passed += 1
  else fail(`${tool} found faults.`)
}

/** True where every file ran. */
async function vitest(projects, ...servers) {
  const { code, found, spent, errors } = await results(projects, servers)
  for (const error of errors) fail(`${projects.join(', ')}: outside of any test: ${error}`)
  if (!found) {
    fail(`${projects.join(', ')}: vitest ended with ${code} and left no results.`)
    return false
  }

  tally.passed += found.numPassedTests
  costs.push(...spent.map(({ path, seconds }) => ({ path, projects, seconds })))
  for (const file of found.testResults) {
    const path = file.name.slice(root.length)
    const failed = failuresOf(file)
    if (failed.size > 0 && mayRunAgain(path)) failedFiles.push({ path, projects, servers, failed })
    else for (const [title, why] of failed) failTest(projects, path, title, why)
    for (const test of file.assertionResults) {
      if (test.status === 'passed' || test.status === 'failed' || isBroken(file)) continue
      tally.skipped += 1
      report.push(`Skipped by the test itself: ${test.fullName}`)
    }
  }
  if (code !== 0 && found.success && errors.length === 0)
    fail(`${projects.join(', ')}: vitest ended with ${code} outside of any test.`)
  return !found.testResults.some(isBroken)
}

/** Runs a file again, with nothing beside it. What fails once and passes once is unsteady, and no failure yet. */
async function onceMore({ path, projects, servers, failed }) {
  console.log(`\nOnce more, alone: ${path}`)
  const { found } = await results(projects, servers, path)
  const file = found?.testResults.find(({ name }) => name.slice(root.length) === path)
  const again = file ? failuresOf(file) : failed
  for (const [title, why] of failed) {
    if (again.has(title) || again.has(WHOLE_FILE)) failTest(projects, path, title, why)
    else markUnsteady(projects, path, title, why)
  }
  for (const [title, why] of again) if (!failed.has(title)) markUnsteady(projects, path, title, why)
}

/** The titles of what failed, with the first message of each; a file that did not run whole fails under a title of its own. */
function failuresOf(file) {
  const failed = file.assertionResults.filter(({ status }) => status === 'failed')
  const messages = failed.map(({ fullName, failureMessages: [why = ''] }) => [fullName, why])
  return new Map(isBroken(file) ? [[WHOLE_FILE, file.message]] : messages)
}

/** In what these are about a race is a fault, however seldom it is met. */
function mayRunAgain(path) {
  return !/^test\/(simulation|store|hostile|faults)\/|\.kill\.test\.ts$/.test(path)
}

function failTest(projects, path, title, why) {
  tally.failed += 1
  report.push(`Failed (${projects.join(', ')}): ${path}: ${title}\n${why}`)
}

function markUnsteady(projects, path, title, why) {
  tally.passed += 1
  unsteady.push(title)
  report.push(`Unsteady (${projects.join(', ')}): ${path}: ${title}\n${why}`)
}

async function results(projects, [mongodbUri, redisUrl] = [], ...files) {
  const outputFile = join(folder, `${randomUUID()}.json`)
  const costFile = join(folder, `${randomUUID()}.costs`)
  const errorFile = join(folder, `${randomUUID()}.errors`)
  const reporters = ['default', 'json', './test/support/errors-reporter.mjs'].map((name) => `--reporter=${name}`)
  const options = ['run', ...projectOptions(projects), ...files, ...reporters, `--outputFile.json=${outputFile}`]
  const variables = {
    MONGODB_URI: mongodbUri,
    REDIS_URL: redisUrl,
    PLAZA_TEST_COSTS: costFile,
    PLAZA_TEST_ERRORS: errorFile,
  }
  const code = await run('vitest', options, variables)
  return { code, found: readJson(outputFile), spent: costsIn(costFile), errors: readJson(errorFile) ?? [] }
}

/** What `test/support/cost.ts` has noted there of each file. */
function costsIn(costFile) {
  try {
    const lines = readFileSync(costFile, 'utf8').trim().split('\n')
    return lines.map((line) => ({
      seconds: Number(line.split(' ', 1)),
      path: line.slice(line.indexOf(' ') + 1 + root.length),
    }))
  } catch {
    return []
  }
}

function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

/** What continuous integration can install may not be missing there. */
async function skip(projects, reason) {
  if (process.env.CI) return fail(`${projects.join(', ')} could not run: ${reason}`)
  const outputFile = join(folder, `${projects.join('-')}.list.json`)
  await run('vitest', ['list', ...projectOptions(projects), `--json=${outputFile}`])
  const count = readJson(outputFile)?.length ?? 0
  tally.skipped += count
  report.push(`Skipped: ${count} tests of ${projects.join(', ')}: ${reason}`)
}

function projectOptions(projects) {
  return projects.flatMap((name) => ['--project', name])
}

/** Of the servers it sees those that are named, and no others. */
function run(tool, options, variables = {}) {
  const { MONGODB_URI: _, REDIS_URL: __, ...inherited } = process.env
  const given = Object.entries(variables).filter(([, value]) => value !== undefined)
  const env = { ...inherited, ...Object.fromEntries(given) }
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [binaryOf(tool), ...options], { cwd: root, stdio: 'inherit', env })
    running.add(child)
    child.once('close', (code) => {
      running.delete(child)
      resolve(code ?? 1)
    })
  })
}

function binaryOf(tool) {
  const names = {
    biome: '@biomejs/biome/bin/biome',
    tsc: 'typescript/bin/tsc',
    vitest: 'vitest/vitest.mjs',
    tsx: 'tsx/dist/cli.mjs',
  }
  return join(root, 'node_modules', names[tool])
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function costLine(seconds, of) {
  return `${seconds.toFixed(0).padStart(5)} s  ${of}`
}

function fail(reason) {
  tally.failed += 1
  report.push(`Failed: ${reason}`)
}

async function cleanUp() {
  for (const cleanup of cleanups.splice(0).reverse())
    try {
      await cleanup()
    } catch (error) {
      report.push(`Left behind: ${error.message}`)
    }
}

function conclude() {
  const costly = costs.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_COSTLY)
  const lines = costly.map(({ path, projects, seconds }) => costLine(seconds, `${path} (${projects.join(', ')})`))
  const runs = new Map()
  for (const { projects, seconds } of costs) runs.set(projects, (runs.get(projects) ?? 0) + seconds)
  lines.push(...[...runs].map(([projects, seconds]) => costLine(seconds, `all files of ${projects.join(', ')}`)))
  if (costs.length > 0) console.log(`\nThe files that cost most, in seconds of processor time:\n${lines.join('\n')}`)
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ''
  console.log(`\n${report.join('\n')}\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
  process.exitCode = tally.failed > 0 ? 1 : 0
}
