import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api } from '#shared/api/index'
import { canonicalOperations } from '#shared/kit/json-schema'
import { examplesFile, readExamples } from './documents.ts'
import { chosen, type Exchange, fits } from './examples/choose.ts'

/**
 * Updates the examples of the documents from requests and answers of tests. By default all tests run:
 * `npm run examples -- [files of test/server and test/hostile]`. Valid examples stay; remove one to have another chosen.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const kept = readExamples()
const exchanges = exchangesOf(process.argv.slice(2))
const operations = canonicalOperations(api)
const lines = operations.flatMap((canonical) => {
  const old = kept[canonical.id]
  const example = old && fits(canonical, old) ? old : chosen(canonical, exchanges)
  return example ? [[canonical.id, ` ${JSON.stringify(canonical.id)}: ${JSON.stringify(example)}`] as const] : []
})
writeFileSync(examplesFile, `{\n${lines.map(([, line]) => line).join(',\n')}\n}\n`)
const shown = new Set(lines.map(([id]) => id))
const missing = operations.filter(({ id, name }) => !shown.has(id) && !shown.has(name))
console.log(`${shown.size} examples.`)
for (const { id } of missing) console.log(`Without one: ${id}`)

/** The requests and answers of these tests. */
function exchangesOf(given: readonly string[]): Exchange[] {
  const folder = mkdtempSync(join(tmpdir(), 'plaza-examples-'))
  try {
    const noted = join(folder, 'exchanges')
    writeFileSync(noted, '')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    spawnSync(process.execPath, [vitest, 'run', '--project', 'embedded', '--project', 'hostile', ...given], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PLAZA_TEST_EXCHANGES: noted },
    })
    const text = readFileSync(noted, 'utf8')
    return text.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Exchange] : []))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
