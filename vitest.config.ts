import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { type Need, type Project, projectNames, projectOf } from './test/suite/projects.ts'

const longMilliseconds = 300_000
const usualMilliseconds = 120_000

/** Node 24 runs the sources as they are; Node 20 needs Vite to take their types away. */
const runsTypeScript = Number(process.versions.node.split('.', 1)) >= 24

/** Where the servers of a run are. Without it a project sees those of the environment, as in `MONGODB_URI=… npx vitest`. */
const servers: Partial<Record<Need, Record<string, string | undefined>>> = {
  mongodb: { MONGODB_URI: process.env.PLAZA_SUITE_MONGODB_URI },
  redis: { REDIS_URL: process.env.PLAZA_SUITE_REDIS_URL },
}

function serversOf({ needs = [] }: Project): Record<string, string> {
  const entries = needs.flatMap((need) => Object.entries(servers[need] ?? {}))
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

export default defineConfig({
  test: {
    pool: 'forks',
    // Tests wait about half of their time: for a disk, for an answer, for what should not come.
    maxWorkers: Number(process.env.PLAZA_SUITE_WORKERS ?? availableParallelism() * 2),
    // Servers and their clients make much that is soon thrown away, and most projects load the same modules.
    execArgv: ['--max-semi-space-size=64'],
    expect: { poll: { timeout: 20_000 } },
    setupFiles: ['test/support/cost.ts'],
    // Sheets are not read: a class of a module has the name by which a component takes it.
    css: { modules: { classNameStrategy: 'non-scoped' } },
    tags: [{ name: 'heavy', description: 'Costs 0.4 s or more.' }],
    retry: 0,
    passWithNoTests: true,
    projects: projectNames.map((name): TestProjectInlineConfiguration => {
      const project = projectOf(name)
      const milliseconds = project.isLong ? longMilliseconds : usualMilliseconds
      const isNative = runsTypeScript && !project.hasJsx
      return {
        extends: true,
        test: {
          name,
          include: [...project.files],
          env: { ...project.env, ...serversOf(project), PLAZA_TEST_PROJECT: name },
          isolate: project.isolate ?? false,
          testTimeout: milliseconds,
          hookTimeout: milliseconds,
          experimental: isNative ? { viteModuleRunner: false, nodeLoader: false } : { fsModuleCache: true },
        },
      }
    }),
  },
})
