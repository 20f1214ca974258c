import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { projectOf } from './test/suite/projects.ts'

const imported = /from '#server\/(log|domains\/moderation\/verdict|domains\/payments\/payments)\//
/** Code that can be changed is slower than these bounds of time allow. */
const isTimed = (file: string) => file.endsWith('/verdict-budget.test.ts')
const isOfThese = (file: string) => file.startsWith('test/log/') || imported.test(readFileSync(file, 'utf8'))

/** What tests the mutated folders by itself, for Stryker, which runs it in threads: these take no options of V8. */
export default defineConfig({
  test: {
    include: projectOf('unit').files.filter((file) => isOfThese(file) && !isTimed(file)),
    env: { PLAZA_TEST_PROJECT: 'unit' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
