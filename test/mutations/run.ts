import { parseArgs } from 'node:util'
import { mutations } from './list.ts'
import type { Mutation } from './mutation.ts'
import { createScratch, type Scratch } from './scratch.ts'
import { type Result, runTests } from './tests.ts'

const usage = `npm run mutate -- [options]
  --only <text>    mutations with this text in their name, file or what they break
  --workers <n>    how many run at once (2)
  --list           prints the mutations and runs none`

const verdicts = { passed: 'SURVIVED', failed: 'caught  ', broken: 'BROKEN  ' }
const running = new Set<() => void>()
const scratches: Scratch[] = []
process.once('exit', () => {
  for (const stop of running) stop()
  for (const scratch of scratches) scratch.remove()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exitCode = 2
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { only: text, workers: text, list: { type: 'boolean' } } })
  const named = mutations.filter((mutation) => isChosen(mutation, values.only))
  if (named.length === 0) throw new Error(`There is no mutation with "${values.only}".`)
  if (values.list) {
    for (const { name, file, breaks } of named) console.log(`${breaks}  ${file}  ${name}`)
    return
  }
  const chosen = named.filter(({ caughtBy }) => !caughtBy.needsMongo || process.env.MONGODB_URI)
  for (const { name, breaks } of named.filter((each) => !chosen.includes(each)))
    console.log(`skipped   ${breaks}: ${name} (MONGODB_URI is not set)`)
  const workers = Math.min(Number(values.workers ?? 2), chosen.length)
  if (!(workers >= 1)) throw new Error('--workers wants a number above 0.')
  for (let worker = 0; worker < workers; worker++) scratches.push(createScratch())
  if (!(await passUnchanged(chosen))) return
  await judgeAll(chosen)
}

function isChosen({ name, file, breaks }: Mutation, only = ''): boolean {
  return [name, file, breaks].some((text) => text.includes(only))
}

/** What fails by itself proves nothing. */
async function passUnchanged(chosen: readonly Mutation[]): Promise<boolean> {
  const projects = new Set(chosen.map(({ caughtBy }) => caughtBy.project))
  const [scratch] = scratches
  for (const project of projects) {
    const suites = chosen.map(({ caughtBy }) => caughtBy).filter((suite) => suite.project === project)
    const result = scratch && (await runTests(scratch.directory, project, suites, running))
    if (result?.kind === 'passed') continue
    console.log(`Without any mutation the tests of ${project} do not pass: ${textOf(result)}`)
    process.exitCode = 1
    return false
  }
  return true
}

async function judgeAll(chosen: readonly Mutation[]): Promise<void> {
  const queue = [...chosen]
  let survived = 0
  await Promise.all(
    scratches.map(async (scratch) => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { caughtBy, name, breaks } = next
        const restore = scratch.mutate(next)
        const result = await runTests(scratch.directory, caughtBy.project, [caughtBy], running)
        restore()
        if (result.kind !== 'failed') survived++
        console.log(`${verdicts[result.kind]}  ${breaks}: ${name} (${textOf(result)})`)
      }
    }),
  )
  console.log(`${chosen.length - survived} caught, ${survived} not`)
  if (survived > 0) process.exitCode = 1
}

function textOf(result: Result | undefined): string {
  if (result?.kind === 'failed') return result.by
  return result?.kind === 'broken' ? result.why : 'every test passed'
}
