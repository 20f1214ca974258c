import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { filesIn, type Mode } from './test/support/modes.ts'

const long = ['**/*.kill.test.ts', '**/*.slow.test.ts', '**/node_modules/**']
const longMilliseconds = 300_000

const allOf = (...folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

function project(
  name: string,
  include: string[],
  env: Record<string, string> = {},
): TestProjectInlineConfiguration & { test: object } {
  return { extends: true, test: { name, include, exclude: long, env } }
}

/** Files after one another in one process, as loading the whole server for each costs more than its tests. */
function served(...given: Parameters<typeof project>): TestProjectInlineConfiguration {
  return inOneProcess(project(...given))
}

function inOneProcess({ test, ...rest }: TestProjectInlineConfiguration): TestProjectInlineConfiguration {
  return { ...rest, test: { ...test, isolate: false } }
}

/** The files of a folder that name this mode. */
const inMode = (mode: Mode, folder: string, env: Record<string, string>) => served(mode, filesIn(mode, folder), env)

/** Tests that want the machine to themselves: few files at a time, after the others. */
function alone(name: string, include: string, groupOrder: number, maxWorkers = 1): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [include],
      maxWorkers,
      sequence: { groupOrder },
      testTimeout: longMilliseconds,
      hookTimeout: longMilliseconds,
    },
  }
}

const twoNodes = { PLAZA_TEST_STORE: 'mongodb', PLAZA_TEST_NODES: '2' }

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Servers and their clients make much that is soon thrown away, and most projects load the same modules.
    execArgv: ['--max-semi-space-size=64'],
    expect: { poll: { timeout: 20_000 } },
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/cost.ts'],
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: true,
    projects: [
      served('laws', ['test/laws/*.test.ts']),
      served('merge', allOf('laws/merge')),
      served('unit', allOf('unit', 'ports', 'log', 'shared', 'client', 'media')),
      project('store', allOf('store')),
      inMode('embedded', 'test/server', { PLAZA_TEST_STORE: 'embedded' }),
      inMode('mongodb', 'test/hostile', { PLAZA_TEST_STORE: 'mongodb' }),
      inMode('two-nodes', 'test/server', twoNodes),
      project('nodes', allOf('nodes'), { PLAZA_TEST_STORE: 'mongodb' }),
      inMode('two-nodes-redis', 'test/server', { ...twoNodes, PLAZA_TEST_REDIS: 'shared' }),
      project('redis', allOf('redis'), twoNodes),
      served('hostile', allOf('hostile')),
      project('simulation', allOf('simulation')),
      project('faults', allOf('faults')),
      alone('kill', 'test/**/*.kill.test.ts', 1),
      alone('slow', 'test/**/*.slow.test.ts', 2),
      inOneProcess(alone('browser', 'test/browser/**/*.test.ts', 3, 2)),
    ],
  },
})
