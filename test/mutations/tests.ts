import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { literally, type Suite } from './mutation.ts'

const SECONDS = 240

/** `failed` names the first test that did; `broken` says why no test could tell. */
export type Result = { kind: 'passed' } | { kind: 'failed'; by: string } | { kind: 'broken'; why: string }

interface Report {
  numPassedTests: number
  testResults: { message: string; assertionResults: { status: string; title: string }[] }[]
}

/** Runs tests of one project in a copy of the repository, to the first that fails. */
export async function runTests(
  directory: string,
  project: string,
  suites: readonly Suite[],
  running: Set<() => void>,
): Promise<Result> {
  const results = join(directory, '.cache', 'mutation.json')
  rmSync(results, { force: true })
  const titles = suites.flatMap(({ title }) => title ?? [])
  const pattern = titles.map(literally).join('|')
  const files = [...new Set(suites.map(({ file }) => file))]
  const options = ['run', '--project', project, '--bail=1', '--reporter=json', `--outputFile=${results}`]
  const filter = titles.length === suites.length ? ['-t', pattern] : []
  const { code, isLate } = await vitest(directory, [...options, ...filter, ...files], running)
  if (isLate) return { kind: 'failed', by: `no end after ${SECONDS} s` }
  return judge(readReport(results), code)
}

function judge(report: Report | null, code: number | null): Result {
  if (!report) return { kind: 'broken', why: `vitest ended with ${code} and left no results` }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.find(({ status }) => status === 'failed')
  if (failed) return { kind: 'failed', by: failed.title }
  const message = report.testResults.find((file) => file.message)?.message
  if (message) return { kind: 'broken', why: message }
  if (report.numPassedTests === 0) return { kind: 'broken', why: 'no test ran' }
  return code === 0 ? { kind: 'passed' } : { kind: 'failed', by: 'an error outside of any test' }
}

function vitest(directory: string, options: readonly string[], running: Set<() => void>) {
  return new Promise<{ code: number | null; isLate: boolean }>((resolve) => {
    const program = join(directory, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [program, ...options], { cwd: directory, stdio: 'ignore', detached: true })
    let isLate = false
    const stop = () => {
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    }
    const timer = setTimeout(() => {
      isLate = true
      stop()
    }, SECONDS * 1_000)
    running.add(stop)
    child.once('close', (code) => {
      clearTimeout(timer)
      running.delete(stop)
      resolve({ code, isLate })
    })
  })
}

function readReport(path: string): Report | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}
