import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium, provisionAnvil, startMongo, startRedis } from './test-servers.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const results = mkdtempSync(join(tmpdir(), 'plaza-results-'))
const tally = { passed: 0, failed: 0, skipped: 0 }
const report = []
const cleanups = [() => rmSync(results, { recursive: true, force: true })]
let running

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    process.once('exit', () => running?.kill(signal))
    running?.kill(signal)
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
  if (mongo.stop) cleanups.push(mongo.stop)
  const redis = await startRedis()
  if (redis.stop) cleanups.push(redis.stop)
  const chain = provisionAnvil()
  if (chain.missing && process.env.CI) fail(chain.missing)
  report.push(`Chain: ${chain.name ?? chain.missing}`)
  report.push(`MongoDB: ${mongo.name ?? 'none'}`, `Redis: ${redis.name ?? 'none'}`, `Chromium: ${chromium ?? 'none'}`)

  const outcomes = join(results, 'outcomes')
  process.env.PLAZA_TEST_OUTCOMES = outcomes
  const ranWhole = await vitest(['laws', 'unit', 'embedded', 'hostile', 'simulation'])
  if (ranWhole) await check('tsx', ['scripts/outcomes.ts', outcomes])
  await vitest(['store', 'kill', 'slow'], mongo.uri)
  if (mongo.uri) await vitest(['mongodb', 'two-nodes', 'nodes'], mongo.uri)
  else await skip(['mongodb', 'two-nodes', 'nodes'], mongo.missing)
  if (mongo.uri && redis.url) await vitest(['two-nodes-redis', 'redis'], mongo.uri, redis.url)
  else await skip(['two-nodes-redis', 'redis'], mongo.missing ?? redis.missing)
  if (chromium) await vitest(['browser'])
  else await skip(['browser'], 'no Chromium found; set CHROMIUM_BINARY')
}

/** Each counts as one. */
async function check(tool, options) {
  console.log(`\n${tool} ${options.join(' ')}`)
  if ((await run(tool, options)) === 0) tally.passed += 1
  else fail(`${tool} found faults.`)
}

/** True where every file ran. */
async function vitest(projects, mongodbUri, redisUrl) {
  const outputFile = join(results, `${projects.join('-')}.json`)
  const options = ['run', ...projectOptions(projects), '--reporter=default', '--reporter=json']
  const code = await run('vitest', [...options, `--outputFile=${outputFile}`], mongodbUri, redisUrl)
  const found = readJson(outputFile)
  if (!found) {
    fail(`${projects.join(', ')}: vitest ended with ${code} and left no results.`)
    return false
  }

  tally.passed += found.numPassedTests
  tally.failed += found.numFailedTests
  for (const file of found.testResults) {
    if (isBroken(file)) fail(`${file.name} did not run: ${file.message}`)
    for (const test of file.assertionResults) {
      if (test.status === 'passed' || test.status === 'failed') continue
      tally.skipped += 1
      report.push(`Skipped by the test itself: ${test.fullName}`)
    }
  }
  if (code !== 0 && found.success) fail(`${projects.join(', ')}: vitest ended with ${code} outside of any test.`)
  return !found.testResults.some(isBroken)
}

function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

/** What continuous integration can install may not be missing there. */
async function skip(projects, reason) {
  if (process.env.CI) return fail(`${projects.join(', ')} could not run: ${reason}`)
  const outputFile = join(results, `${projects.join('-')}.list.json`)
  await run('vitest', ['list', ...projectOptions(projects), `--json=${outputFile}`])
  const count = readJson(outputFile)?.length ?? 0
  tally.skipped += count
  report.push(`Skipped: ${count} tests of ${projects.join(', ')}: ${reason}`)
}

function projectOptions(projects) {
  return projects.flatMap((name) => ['--project', name])
}

function run(tool, options, mongodbUri, redisUrl) {
  const { MONGODB_URI: _, REDIS_URL: __, ...env } = process.env
  if (mongodbUri) env.MONGODB_URI = mongodbUri
  if (redisUrl) env.REDIS_URL = redisUrl
  return new Promise((resolve) => {
    running = spawn(process.execPath, [binaryOf(tool), ...options], { cwd: root, stdio: 'inherit', env })
    running.once('close', (code) => resolve(code ?? 1))
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

function fail(reason) {
  tally.failed += 1
  report.push(`Failed: ${reason}`)
}

async function cleanUp() {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

function conclude() {
  const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ''
  console.log(`\n${report.join('\n')}\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
  process.exitCode = tally.failed > 0 ? 1 : 0
}
