import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

const long = ['**/*.kill.test.ts', '**/*.slow.test.ts', '**/node_modules/**']
const longMilliseconds = 300_000

function project(
  name: string,
  folders: readonly string[],
  env: Record<string, string> = {},
  except: readonly string[] = [],
): TestProjectInlineConfiguration {
  const include = folders.map((folder) => `test/${folder}/**/*.test.ts`)
  return { extends: true, test: { name, include, exclude: [...long, ...except], env } }
}

/** Files after one another in one process, as loading the whole server for each costs more than its tests. */
function served(...given: Parameters<typeof project>): TestProjectInlineConfiguration {
  const { test, ...rest } = project(...given)
  return { ...rest, test: { ...test, isolate: false } }
}

/** Files that neither hear what is told nor ask one node by name: how nodes hear of one another changes nothing for them. */
const onAnyWire = readdirSync('test/server')
  .map((file) => `test/server/${file}`)
  .filter((path) => !/\.hears\(|\.follows\(|\bfollow\(|staysSilent|\.urls|\.apps\b/.test(readFileSync(path, 'utf8')))

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

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Servers and their clients make much that is soon thrown away, and most projects load the same modules.
    execArgv: ['--max-semi-space-size=64'],
    expect: { poll: { timeout: 20_000 } },
    experimental: { fsModuleCache: true },
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: true,
    projects: [
      served('laws', ['laws']),
      served('unit', ['unit', 'ports', 'log', 'shared', 'client', 'media']),
      project('store', ['store']),
      served('embedded', ['server'], { PLAZA_TEST_STORE: 'embedded' }),
      served('mongodb', ['hostile'], { PLAZA_TEST_STORE: 'mongodb' }),
      served('two-nodes', ['server'], { PLAZA_TEST_STORE: 'mongodb', PLAZA_TEST_NODES: '2' }, onAnyWire),
      project('nodes', ['nodes'], { PLAZA_TEST_STORE: 'mongodb' }),
      served('two-nodes-redis', ['server'], {
        PLAZA_TEST_STORE: 'mongodb',
        PLAZA_TEST_NODES: '2',
        PLAZA_TEST_REDIS: 'shared',
      }),
      project('redis', ['redis'], { PLAZA_TEST_STORE: 'mongodb', PLAZA_TEST_NODES: '2' }),
      served('hostile', ['hostile']),
      project('simulation', ['simulation']),
      project('faults', ['faults']),
      alone('kill', 'test/**/*.kill.test.ts', 1),
      alone('slow', 'test/**/*.slow.test.ts', 2),
      alone('browser', 'test/browser/**/*.test.ts', 3, 2),
    ],
  },
})
