import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api } from '#shared/api/index'
import { canonicalOperations } from '#shared/kit/canonical'
import { chosen, type Exchange, fits } from './examples/choose.ts'
import { examplesFile, readExamples } from './examples/file.ts'

/**
 * Brings the examples of the documents up to date with what tests send and are answered: `npm run examples -- [files of test/server and test/hostile]`, by
 * default all of them. An example that still passes its schemas stays as it is; remove it to have another one chosen.
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

/** What is asked and answered while these tests run. */
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
